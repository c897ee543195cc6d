import { describe, expect, test } from 'vitest'
import { ResponseParser } from './response-parser.ts'

interface Read {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly ended: boolean
}

/** The parsed text, pushed in pieces of `size` bytes. The connection closes afterwards if `close` is set. */
function read(text: string, size = Infinity, close = false): Read {
  const found = { status: undefined as number | undefined, headers: {}, body: '', ended: false }
  const parser = new ResponseParser({
    onHead: (status, headers) => Object.assign(found, { status, headers: { ...headers } }),
    onBody: (bytes, start, end) => (found.body += bytes.toString('latin1', start, end)),
    onEnd: () => (found.ended = true),
  })
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size))
  if (close) parser.close()
  return found
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

describe('a response that is cut anywhere', () => {
  const sizes = [1, 2, 3, 7, 16, Infinity]

  test('chunks with extensions, trailers and an interim response are parsed', () => {
    const text = `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${CHUNKED}5;a=b\r\nhello\r\n00B \r\n\r\n{"a":\n1}\n\r\n0\r\nx-sum: 1\r\n\r\n`
    for (const size of sizes) {
      expect(read(text, size)).toEqual({
        status: 200,
        headers: { 'transfer-encoding': 'chunked' },
        body: 'hello\r\n{"a":\n1}\n',
        ended: true,
      })
    }
  })

  test('a body with a length ends after it', () => {
    for (const size of sizes) {
      expect(read('HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabcdef', size)).toMatchObject({
        status: 404,
        body: 'abc',
        ended: true,
      })
    }
  })

  test('a body without a length ends with the connection', () => {
    for (const size of sizes) {
      const text = 'HTTP/1.0 200\r\n\r\nall there is'
      expect(read(text, size)).toMatchObject({ body: 'all there is', ended: false })
      expect(read(text, size, true)).toMatchObject({ body: 'all there is', ended: true })
    }
  })
})

test('responses without a body end at once', () => {
  expect(read('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({ status: 204, ended: true })
  expect(read('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')).toMatchObject({ body: '', ended: true })
})

test('only the given length of the buffer is parsed', () => {
  let body = ''
  const parser = new ResponseParser({
    onHead: () => undefined,
    onBody: (bytes, start, end) => (body += bytes.toString('latin1', start, end)),
    onEnd: () => undefined,
  })
  const buffer = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab\n\nrubbish`)
  parser.push(buffer, buffer.length - 'b\n\nrubbish'.length)
  expect(body).toBe('a')
})

test('repeated headers are lists, and no header name is an inherited property', () => {
  const { headers } = read(
    'HTTP/1.1 200 OK\r\nWarning: a\r\nwarning:b\r\nwarning: c\r\n__proto__: d\r\ncontent-length: 0\r\n\r\n',
  )
  expect(headers['warning']).toEqual(['a', 'b', 'c'])
  expect(Object.keys(headers)).toContain('__proto__')
})

describe('an invalid response', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['an encoding that was not asked for', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
    ['a chunk without a size', `${CHUNKED}\r\n`],
    ['a chunk size that is none', `${CHUNKED}5x\r\n`],
    ['a chunk size with a line break in it', `${CHUNKED}5\r5\n`],
    ['a chunk size beyond all bounds', `${CHUNKED}1234567890abc\r\n`],
    ['a chunk that is longer than it says', `${CHUNKED}2\r\nabc\r\n`],
    ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(300_000)}`],
  ])('%s is an error', (_name, text) => {
    expect(() => read(text)).toThrow(/response|server/)
    expect(() => read(text, 1)).toThrow(/response|server/)
  })

  test.each(['', 'HTTP/1.1 200 OK\r\n', `${CHUNKED}5\r\nab`, `${CHUNKED}2\r\nab\r\n0\r\n`])(
    '%j is cut short and fails',
    (text) => {
      expect(() => read(text, Infinity, true)).toThrow(/before the end of the response/)
    },
  )
})
