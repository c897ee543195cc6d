import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { BodyFailure } from './read-body.ts'
import { readBody } from './read-body.ts'

/** Reads one body with a limit of four bytes. */
async function reading(send: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<Buffer | BodyFailure>()
  const server = createServer((request) => void readBody(request, { maxBytes: 4 }).then(resolve))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.end(`POST / HTTP/1.1\r\nhost: a\r\n${send}`)
  const result = await promise
  socket.destroy()
  server.closeAllConnections()
  server.close()
  return typeof result === 'string' ? result : `read ${result.toString()}`
}

test.each([
  ['content-length: 4\r\n\r\nabcd', 'read abcd'],
  ['transfer-encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n', 'read abcd'],
  ['content-length: 0\r\n\r\n', 'read '],
  ['\r\n', 'read '],
  ['content-length: 5\r\n\r\n', 'tooLarge'],
  ['transfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n', 'tooLarge'],
  ['content-length: 4\r\n\r\nabc', 'cut'],
  ['transfer-encoding: chunked\r\n\r\n2\r\nab\r\n', 'cut'],
])('the result of %j is %j', async (send, result) => {
  expect(await reading(send)).toBe(result)
})
