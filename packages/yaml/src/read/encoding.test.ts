import { expect, test } from 'vitest'
import { decodeYaml } from './encoding.ts'

test('UTF-16 is detected by its byte order mark', () => {
  const text = Buffer.from('\uFEFFa: é\n', 'utf16le')
  expect(decodeYaml(text)).toEqual({ body: 'a: é\n' })
  expect(decodeYaml(Buffer.from(text).swap16())).toEqual({ body: 'a: é\n' })
})

test.each([
  [[0x61, 0xff], 'invalid leading UTF-8 octet'],
  [[0x61, 0xc3, 0x0a], 'invalid trailing UTF-8 octet'],
  [[0x61, 0xe2, 0x82], 'incomplete UTF-8 octet sequence'],
  [[0x61, 0xc0, 0x80], 'invalid length of a UTF-8 sequence'],
  [[0xed, 0xa0, 0x80], 'invalid Unicode character'],
  [[0xff], 'invalid leading UTF-8 octet'],
])('%j is not valid text', (bytes, why) => {
  expect(decodeYaml(Buffer.from(bytes)).unreadable).toBe(why)
})
