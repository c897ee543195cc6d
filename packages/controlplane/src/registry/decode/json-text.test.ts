import { expect, test } from 'vitest'
import { MAX_JSON_DEPTH, parseJson } from './json-text.ts'

// The messages are those of Go's encoding/json.
test.each([
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['not json', "invalid character 'o' in literal null (expecting 'u')"],
  ['{bad', "invalid character 'b' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['{}x', "invalid character 'x' after top-level value"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  [String.raw`"\x"`, "invalid character 'x' in string escape code"],
  ['"\n"', String.raw`invalid character '\n' in string literal`],
  ['<', "invalid character '<' looking for beginning of value"],
])('%j: %s', (text, message) => {
  expect(() => parseJson(text)).toThrow(message)
})

test('duplicate keys are found at any depth, and only those', () => {
  expect(parseJson('{"a":{"b":1,"b":2},"c":[{"d":1,"d":2}],"a":{}}').duplicates).toEqual(['a.b', 'c[0].d', 'a'])
  expect(parseJson(String.raw`{"a":"x:\"y:","b\\":":","c":{"a":[":"]}}`).duplicates).toEqual([])
  expect(parseJson('{"__proto__":1,"__proto__":2}').duplicates).toEqual(['__proto__'])
})

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

test('nesting is limited', () => {
  expect(parseJson(nested(MAX_JSON_DEPTH)).duplicates).toEqual([])
  expect(() => parseJson(nested(MAX_JSON_DEPTH + 1))).toThrow('exceeded max depth')
  expect(() => parseJson(nested(1_000_000))).toThrow('exceeded max depth')
})

test('half of a surrogate pair becomes the replacement character', () => {
  expect(parseJson(String.raw`{"a\ud800":["\udc00x","\ud83d\ude00"]}`).value).toEqual({ 'a\uFFFD': ['\uFFFDx', '😀'] })
})

test('an invalid character is shown as Go shows it: by its first byte', () => {
  expect(() => parseJson('\uFEFF{}')).toThrow("invalid character 'ï' looking for beginning of value")
  expect(() => parseJson('\u009E', 'bytes')).toThrow(String.raw`invalid character '\u009e' looking for`)
})

test('a key that occurs many times is reported once', () => {
  expect(parseJson('{"a":1,"a":2,"a":3}').duplicates).toEqual(['a'])
})

test('the number and the length of reported duplicate keys are bounded', () => {
  const names = Array.from({ length: 50_000 }, (_, index) => `"k${index}":0`).join()
  const { duplicates } = parseJson(`{"${'long'.repeat(100_000)}":{${names},${names}},"last":1,"last":2}`)
  expect(duplicates.length).toBe(2)
  expect(duplicates[1]).toBe('last')
  expect(duplicates.join('').length).toBeLessThan(10_000)
  expect(parseJson(`{${names},${names}}`).duplicates.length).toBe(100)
})
