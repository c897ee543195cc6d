import { describe, expect, test } from 'vitest'
import { encodeBytes, encodeInteger, encodeVarint } from './encoder.testing.ts'
import { delimited, MalformedProtobuf, ProtobufReader, varint } from './reader.ts'

function read(bytes: Buffer, end = bytes.length): unknown[] {
  const reader = new ProtobufReader(bytes)
  const fields: unknown[] = []
  while (reader.next(end)) fields.push([reader.tag, reader.tag % 8 === 0 ? reader.integer() : reader.text()])
  return fields
}

describe('ProtobufReader', () => {
  test('fields are read one after the other', () => {
    const bytes = Buffer.concat([
      encodeBytes(1, 'grüße 🦀'),
      encodeInteger(300, 7),
      encodeBytes(2, ''),
      encodeBytes(17, 'x'),
    ])
    expect(read(bytes)).toEqual([
      [delimited(1), 'grüße 🦀'],
      [varint(300), 7],
      [delimited(2), ''],
      [delimited(17), 'x'],
    ])
  })

  test.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 53 - 1, -1, -62_135_596_800])(
    'the number %d is read',
    (value) => {
      expect(read(encodeInteger(1, value))).toEqual([[varint(1), value]])
    },
  )

  test('fields that are not read are skipped', () => {
    const fixed64 = Buffer.from([1 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8])
    const fixed32 = Buffer.from([2 * 8 + 5, 1, 2, 3, 4])
    const reader = new ProtobufReader(Buffer.concat([fixed64, fixed32, encodeBytes(3, 'here')]))
    while (reader.next(reader.bytes.length) && reader.tag !== delimited(3));
    expect(reader.text()).toBe('here')
  })

  test('a nested message is entered, and reading continues after it', () => {
    const inner = Buffer.concat([encodeInteger(1, 5), encodeBytes(2, 'in')])
    const reader = new ProtobufReader(Buffer.concat([encodeBytes(1, inner), encodeBytes(2, 'out')]))
    const texts: string[] = []
    while (reader.next(reader.bytes.length)) {
      if (reader.tag === delimited(2)) texts.push(reader.text())
      else
        for (const end = reader.enter(); reader.next(end);) if (reader.tag === delimited(2)) texts.push(reader.text())
    }
    expect(texts).toEqual(['in', 'out'])
  })

  test.each([
    ['a text that is cut short', encodeBytes(1, 'abc').subarray(0, -1)],
    ['a number that is cut short', encodeInteger(1, 300).subarray(0, -1)],
    ['a tag without a value', encodeVarint(delimited(1))],
    ['a number of more than ten bytes', Buffer.alloc(20, 0xff)],
    ['a length beyond everything', Buffer.concat([encodeVarint(delimited(1)), encodeVarint(2n ** 63n)])],
    ['a group, which is no longer in use', Buffer.from([1 * 8 + 3, 1 * 8 + 4])],
    ['half of eight bytes', Buffer.from([1 * 8 + 1, 0, 0, 0])],
  ])('%s is rejected', (_what, bytes) => {
    expect(() => read(bytes)).toThrow(MalformedProtobuf)
  })

  test('a field that ends after its message is rejected', () => {
    expect(() => read(encodeBytes(1, 'abc'), 4)).toThrow(MalformedProtobuf)
  })
})
