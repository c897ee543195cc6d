import type { Transport } from '@tenure/kube'
import { TenureError } from '@tenure/kube'

/**
 * A transport that sends writes only while `isLeader()`: asked at the moment of sending, so a process that was
 * suspended past its lease sends nothing more, even before its timers ran. Reads pass.
 */
export function fenced(transport: Transport, leadership: { isLeader(): boolean }): Transport {
  return {
    async request(request) {
      if (request.method !== 'GET' && !leadership.isLeader()) {
        throw new TenureError(
          'TENURE_ELECTION_NOT_LEADER',
          `${request.method} ${request.path} was not sent: this process does not lead any more.`,
          { fate: 'retry' },
        )
      }
      return transport.request(request)
    },
    close: () => transport.close(),
  }
}
