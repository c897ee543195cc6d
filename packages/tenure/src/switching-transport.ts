import type { Transport, TransportRequest, TransportResponse } from '@tenure/kube'
import { asError, ConnectionError } from '@tenure/kube'

/**
 * Reaches whoever hosts the control plane now: in process while that is us, over HTTPS while it is another process.
 * What runs on it sees a switch as a connection that broke, which it must live with anyway.
 */
export class SwitchingTransport implements Transport {
  #current: Transport | undefined

  /** Sends everything from now on through `next`. Who made the one before closes it. */
  switchTo(next: Transport | undefined): void {
    this.#current = next
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const current = this.#current
    if (!current) {
      throw new ConnectionError('TENURE_CONNECTION_UNREACHABLE', 'Nobody hosts the control plane at the moment.')
    }
    try {
      return await current.request(request)
    } catch (error) {
      if (current === this.#current || request.signal?.aborted) throw error
      // The way it took was closed behind it, which says nothing about the next try.
      throw new ConnectionError('TENURE_CONNECTION_BROKEN', 'The host of the control plane changed meanwhile.', {
        cause: asError(error),
      })
    }
  }

  async close(): Promise<void> {
    this.#current = undefined
  }
}
