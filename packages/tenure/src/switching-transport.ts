import type { Transport, TransportRequest, TransportResponse } from '@tenure/kube'
import { asError, ConnectionError } from '@tenure/kube'

/**
 * Reaches the current host of the control plane: in process if this process hosts it, otherwise over HTTPS. Clients see
 * a switch as a broken connection, which they must handle anyway.
 */
export class SwitchingTransport implements Transport {
  #current: Transport | undefined

  /** Sends all further requests through `next`. The creator of the previous transport closes it. */
  switchTo(next: Transport | undefined): void {
    this.#current = next
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const current = this.#current
    if (!current) {
      throw new ConnectionError('TENURE_CONNECTION_UNREACHABLE', 'No process hosts the control plane at the moment.')
    }
    try {
      return await current.request(request)
    } catch (error) {
      if (current === this.#current || request.signal?.aborted) throw error
      // The transport was closed by the switch, so a retry may succeed.
      throw new ConnectionError('TENURE_CONNECTION_BROKEN', 'The host of the control plane changed meanwhile.', {
        cause: asError(error),
      })
    }
  }

  async close(): Promise<void> {
    this.#current = undefined
  }
}
