import type { WebhookRegistrar } from '@tenure/runtime'

type Register = (signal: AbortSignal) => Promise<void>

/**
 * Registers the webhooks of this process when it hosts the control plane, before the API server admits requests of
 * others. The host serves its own webhooks: they live exactly as long as the API server that calls them.
 */
export class HostedWebhooks implements WebhookRegistrar {
  readonly #registers = new Set<Register>()
  readonly #signal: AbortSignal
  #isHosting = false
  #isComplete = false
  #admit: (() => void) | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  async add(register: Register, signal: AbortSignal): Promise<() => void> {
    this.#registers.add(register)
    if (this.#isHosting) await register(signal)
    return () => void this.#registers.delete(register)
  }

  complete(): void {
    this.#isComplete = true
    this.#admit?.()
  }

  /** This process hosts, or its host runs no operators. `admit` is called when all webhooks are registered. */
  async host(admit: () => void = () => undefined): Promise<void> {
    this.#isHosting = true
    await Promise.all([...this.#registers].map((register) => register(this.#signal)))
    this.#admit = admit
    if (this.#isComplete) admit()
  }
}
