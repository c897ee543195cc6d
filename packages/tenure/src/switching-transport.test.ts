import type { Transport, TransportResponse } from '@tenure/kube'
import { fateOf, TenureError } from '@tenure/kube'
import { expect, test } from 'vitest'
import { SwitchingTransport } from './switching-transport.ts'

const request = { method: 'GET', path: '/' } as const
const response: TransportResponse = {
  status: 200,
  headers: {},
  body: { text: () => Promise.resolve(''), cancel: () => undefined, async *[Symbol.asyncIterator]() {} },
}
const answering: Transport = { request: () => Promise.resolve(response), close: () => Promise.resolve() }
const failing = (reason: Error): Transport => ({
  request: () => Promise.reject(reason),
  close: () => Promise.resolve(),
})

test('a request that a change of the host interrupts can be retried', async () => {
  const transport = new SwitchingTransport()
  const underway = Promise.withResolvers<TransportResponse>()
  transport.switchTo({ request: () => underway.promise, close: () => Promise.resolve() })
  const asked = transport.request(request)
  transport.switchTo(answering)
  underway.reject(new TenureError('TENURE_TRANSPORT_CLOSED', 'closed', { fate: 'terminal' }))
  const error: unknown = await asked.catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'TENURE_CONNECTION_BROKEN' })
  expect(fateOf(error)).toBe('retry')
  expect(await transport.request(request)).toBe(response)
})

test('other errors pass unchanged', async () => {
  const transport = new SwitchingTransport()
  const error = new TenureError('TENURE_TRANSPORT_CLOSED', 'closed', { fate: 'terminal' })
  transport.switchTo(failing(error))
  await expect(transport.request(request)).rejects.toBe(error)
  await transport.close()
  await expect(transport.request(request)).rejects.toMatchObject({ code: 'TENURE_CONNECTION_UNREACHABLE' })
})
