import type { Storage } from '../../storage/types.ts'
import type { StoredWebhookConfig } from './webhook.ts'
import { webhooksOf } from './webhook.ts'

export const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io'
export const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

/** The webhooks of all stored configurations of one type, ordered by configuration name, then by position. */
export class WebhookSource {
  readonly #storage: Storage
  readonly #bucket: string
  readonly #unsubscribe: () => void
  #webhooks: readonly StoredWebhookConfig[] | undefined

  constructor(storage: Storage, bucket: string, onChange: () => void) {
    this.#storage = storage
    this.#bucket = bucket
    this.#unsubscribe = storage.watch(bucket, storage.revision, () => {
      this.#webhooks = undefined
      onChange()
    })
  }

  get webhooks(): readonly StoredWebhookConfig[] {
    return (this.#webhooks ??= [...this.#storage.range(this.#bucket)].flatMap(({ object }) => webhooksOf(object)))
  }

  close(): void {
    this.#unsubscribe()
  }
}
