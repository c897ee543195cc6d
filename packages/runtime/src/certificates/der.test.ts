import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as der from './der.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function outcomeOf(read: () => unknown): string {
  try {
    read()
    return 'read'
  } catch (error) {
    return error instanceof Error ? error.name : 'not an Error'
  }
}

describe('DER', () => {
  test('lengths are written in short and long form', () => {
    expect(hex(der.octetString(new Uint8Array(127))).slice(0, 4)).toBe('047f')
    expect(hex(der.octetString(new Uint8Array(128))).slice(0, 6)).toBe('048180')
    expect(hex(der.octetString(new Uint8Array(65_536))).slice(0, 10)).toBe('0483010000')
  })

  test('integers use the fewest octets and are never negative', () => {
    expect(hex(der.unsignedInteger(Uint8Array.of()))).toBe('020100')
    expect(hex(der.unsignedInteger(Uint8Array.of(0, 0, 0)))).toBe('020100')
    expect(hex(der.unsignedInteger(Uint8Array.of(0, 0x7f)))).toBe('02017f')
    expect(hex(der.unsignedInteger(Uint8Array.of(0x80)))).toBe('02020080')
  })

  test('object identifiers, bits and times match the examples of the standard', () => {
    expect(hex(der.objectIdentifier('1.2.840.113549.1.1.11'))).toBe('06092a864886f70d01010b')
    expect(hex(der.namedBits(5, 6))).toBe('03020106')
    expect(hex(der.namedBits(0))).toBe('03020780')
    expect(hex(der.namedBits())).toBe('030100')
    expect(Buffer.from(der.time(Date.UTC(2049, 11, 31, 23, 59, 59, 999))).toString('latin1')).toBe(
      '\x17\x0d491231235959Z',
    )
    expect(Buffer.from(der.time(Date.UTC(2050, 0, 1))).toString('latin1')).toBe('\x18\x0f20500101000000Z')
  })

  test('encoded values decode to the same values', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), (contents) => {
        const read = der.readAll(Buffer.concat(contents.map((content) => der.octetString(content))))
        expect(read.map((value) => hex(value.content))).toEqual(contents.map(hex))
      }),
    )
  })

  test('only truncated bytes throw', () => {
    const whole = der.sequence(der.octetString(new Uint8Array(200)))
    for (let length = 1; length < whole.length; length++) {
      expect(() => der.readAll(whole.subarray(0, length))).toThrow(RangeError)
    }
    expect(() => der.readAll(Uint8Array.of(0x30, 0x80, 0, 0))).toThrow('indefinite')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(outcomeOf(() => der.readAll(bytes))).toMatch(/^(read|RangeError)$/)
      }),
    )
  })
})
