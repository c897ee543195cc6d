import { abortReason } from '@tenure/kube'
import type { ClientAddress } from './certificates/webhook-configuration.ts'
import { namesOf } from './certificates/webhook-configuration.ts'
import type { AdmissionServerOptions } from './server.ts'
import { AdmissionServer } from './server.ts'
import type { WebhookCertificatesOptions } from './certificates/webhook-certificates.ts'
import { WebhookCertificates } from './certificates/webhook-certificates.ts'

export interface WebhooksOptions
  extends Omit<AdmissionServerOptions, 'certificates'>, Omit<WebhookCertificatesOptions, 'declare'> {
  /** The webhook configurations to apply. Default: none; see `inject` for those that others manage. */
  readonly configuration?:
    | {
        /** Name of both the ValidatingWebhookConfiguration and the MutatingWebhookConfiguration. */
        readonly name: string
        /** In a URL, port 0 stands for the bound port: `https://127.0.0.1:0`. */
        readonly address: ClientAddress
      }
    | undefined
}

/** Webhooks with their server and its certificates, started and stopped in the right order. */
export class Webhooks {
  readonly certificates: WebhookCertificates
  readonly server: AdmissionServer
  readonly #ended = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: WebhooksOptions) {
    const { configuration, webhooks } = options
    const names = configuration && namesOf(configuration.address)
    this.certificates = new WebhookCertificates({
      ...options,
      dnsNames: [...(names?.dnsNames ?? []), ...(options.dnsNames ?? [])],
      ipAddresses: [...(names?.ipAddresses ?? []), ...(options.ipAddresses ?? [])],
      declare: configuration && {
        name: configuration.name,
        webhooks,
        address: () => withPort(configuration.address, this.server.port),
      },
    })
    this.server = new AdmissionServer({ ...options, certificates: this.certificates })
  }

  /**
   * Resolves when the webhooks are served. Their configurations are written after that, so that the API server never
   * calls a closed port. `signal` aborts the start only; `close` stops everything.
   */
  async start(signal: AbortSignal = this.#ended.signal): Promise<void> {
    await this.serve(signal)
    this.#running ??= this.certificates.run(this.#ended.signal)
  }

  /** Resolves when the webhooks are served. Nothing is written. */
  async serve(signal: AbortSignal = this.#ended.signal): Promise<void> {
    await this.certificates.prepare(AbortSignal.any([signal, this.#ended.signal]))
    await this.server.listen()
    if (this.#ended.signal.aborted) {
      await this.server.close(0)
      throw abortReason(this.#ended.signal)
    }
  }

  /** Resolves when the configurations are written and name this server. Call `serve` first. */
  async register(signal: AbortSignal = this.#ended.signal): Promise<void> {
    this.#running ??= this.certificates.run(this.#ended.signal)
    await this.certificates.whenTrusted(AbortSignal.any([signal, this.#ended.signal]))
  }

  /** Waits at most `grace` milliseconds (default 30 s) for calls in flight, and stops everything. */
  async close(grace?: number): Promise<void> {
    this.#ended.abort(new Error('webhooks closed'))
    await this.server.close(grace)
    await this.#running
  }
}

function withPort(address: ClientAddress, port: number): ClientAddress {
  if (!('url' in address)) return address
  const url = new URL(address.url)
  if (url.port === '0') url.port = String(port)
  return { url: url.href }
}
