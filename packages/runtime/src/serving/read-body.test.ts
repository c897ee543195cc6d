import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { systemClock } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { ByteBudget, HeldBytes } from './byte-budget.ts'
import type { BodyFailure } from './read-body.ts'
import { readBody } from './read-body.ts'

/** Reads one body with a limit of four bytes. */
async function reading(send: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<Buffer | BodyFailure>()
  const budget = new ByteBudget(100)
  const server = createServer(
    (request) =>
      void readBody(request, { maxBytes: 4, held: new HeldBytes(budget), timeout: 60_000, clock: systemClock }).then(
        resolve,
      ),
  )
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

test('bodies above the budget of the server are refused and give their bytes back', async () => {
  const total = new ByteBudget(6)
  const [first, second] = [new ByteBudget(4, total), new ByteBudget(4, total)]
  const options = { maxBytes: 100, timeout: 1_000, clock: new VirtualClock() }
  const one = new HeldBytes(first)
  const read = await readBody(Readable.from([Buffer.from('abcd')]), { ...options, held: one })
  expect(String(read)).toBe('abcd')
  expect(await readBody(Readable.from([Buffer.from('e')]), { ...options, held: new HeldBytes(first) })).toBe(
    'overBudget',
  )
  const parts = Readable.from([Buffer.from('fg'), Buffer.from('h')])
  expect(await readBody(parts, { ...options, held: new HeldBytes(second) })).toBe('overBudget')
  expect([total.taken, first.taken, second.taken]).toEqual([4, 4, 0])
  one.release()
  one.release()
  expect(total.taken).toBe(0)
})

test('a body that does not arrive in time is too slow', async () => {
  const clock = new VirtualClock()
  const body = new PassThrough()
  const reading = readBody(body, { maxBytes: 9, held: new HeldBytes(new ByteBudget(9)), timeout: 1_000, clock })
  body.write('a')
  await clock.advance(1_000)
  expect(await reading).toBe('tooSlow')
  expect(clock.pending).toBe(0)
})
