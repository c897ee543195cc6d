import type { Transport } from '@tenure/kube'
import { TenureError } from '@tenure/kube'

/**
 * A transport that sends writes only while `isLeader()`. It asks at the moment of sending, so that a process that was
 * suspended past its lease writes nothing, even before its timers run. Reads always pass.
 */
export function fenced(transport: Transport, leadership: { isLeader(): boolean }): Transport {
  return {
    async request(request) {
      if (request.method !== 'GET' && !leadership.isLeader()) {
        throw new TenureError(
          'TENURE_ELECTION_NOT_LEADER',
          `${request.method} ${request.path} was not sent: this process is no longer the leader.`,
          { fate: 'retry' },
        )
      }
      return transport.request(request)
    },
    close: () => transport.close(),
  }
}
