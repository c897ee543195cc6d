import type { Storage } from '../../storage/types.ts'
import type { Webhook } from './webhook.ts'
import { webhooksOf } from './webhook.ts'

export const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io'
export const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

/** The webhooks of all stored configurations of one sort: by the name of the configuration, then in its order. */
export class WebhookSource {
  readonly #storage: Storage
  readonly #bucket: string
  readonly #end: () => void
  #webhooks: readonly Webhook[] | undefined

  constructor(storage: Storage, bucket: string, onChange: () => void) {
    this.#storage = storage
    this.#bucket = bucket
    this.#end = storage.watch(bucket, storage.revision, () => {
      this.#webhooks = undefined
      onChange()
    })
  }

  get webhooks(): readonly Webhook[] {
    return (this.#webhooks ??= [...this.#storage.range(this.#bucket)].flatMap(({ object }) => webhooksOf(object)))
  }

  close(): void {
    this.#end()
  }
}
