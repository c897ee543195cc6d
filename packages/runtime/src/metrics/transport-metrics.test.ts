import type { Transport, TransportResponse } from '@tenure/kube'
import { ConnectionError } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { createMetrics } from './prometheus.ts'
import { measuredTransport } from './transport-metrics.ts'

const answer = (status: number): TransportResponse => ({ status, headers: {}, body: {} as never })

function transportOf(answers: (number | Error)[], clock?: VirtualClock): Transport {
  return {
    async request() {
      const next = answers.shift() ?? 200
      if (clock) await clock.advance(300)
      if (next instanceof Error) throw next
      return answer(next)
    },
    close: () => Promise.resolve(),
  }
}
const lost = new ConnectionError('TENURE_CONNECTION_LOST', 'lost')

describe('measuredTransport', () => {
  test('requests are counted and timed under client-go’s names', async () => {
    const clock = new VirtualClock()
    const metrics = await createMetrics({ processMetrics: false })
    const transport = measuredTransport(transportOf([200, 200, 409, lost], clock), { metrics, clock, host: 'h:6443' })
    await transport.request({ method: 'GET', path: '/a' })
    await transport.request({ method: 'GET', path: '/a', stream: true })
    await transport.request({ method: 'PUT', path: '/a' })
    await expect(transport.request({ method: 'GET', path: '/a' })).rejects.toBe(lost)
    const { text } = await metrics.expose()
    expect(text).toContain('rest_client_requests_total{code="200",method="GET",host="h:6443"} 2')
    expect(text).toContain('rest_client_requests_total{code="409",method="PUT",host="h:6443"} 1')
    expect(text).toContain('rest_client_requests_total{code="<error>",method="GET",host="h:6443"} 1')
    expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",host="h:6443",le="0.25"} 0')
    expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",host="h:6443",le="0.5"} 2')
    await transport.close()
  })
})
