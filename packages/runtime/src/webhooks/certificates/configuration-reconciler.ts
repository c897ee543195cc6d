import type { Clock, JsonPatchOperation, KubeApi, Random } from '@tenure/kube'
import { asError, isNotFound, jitter, jsonPatch, jsonPointer, sleep } from '@tenure/kube'
import type { Informer, Informers } from '../../informer/types.ts'
import type { Logger } from '../../log/logger.ts'
import type { ConfigurationType, WebhookConfiguration } from './webhook-configuration.ts'
import { configurationKind } from './webhook-configuration.ts'

export interface ConfigurationReconcilerOptions {
  readonly type: ConfigurationType
  readonly name: string
  /** Limits the reconciler to these webhooks. Default: all. */
  readonly webhooks?: readonly string[] | undefined
  /** Builds the whole configuration if the operator manages it. Unset: others manage it, and it may not exist. */
  readonly declare?: ((bundle: string) => WebhookConfiguration) | undefined
  readonly api: KubeApi
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Called when `trustedSince` may have changed. */
  readonly onChange: () => void
}

/** Milliseconds between writes, which bounds the cost of a conflict with another writer. */
const WRITE_INTERVAL_MS = 1000
const MAX_BACKOFF_MS = 30_000

/**
 * Keeps the CA bundle in one webhook configuration: writes it when the bundle changes or another writer removes it. A
 * declared configuration is applied as a whole at the start and whenever it is missing; after that only its bundle is
 * maintained, so that an administrator or a newer version of the operator may change the rest.
 */
export class ConfigurationReconciler {
  readonly #options: ConfigurationReconcilerOptions
  readonly #log: Logger
  #bundle = ''
  #known: WebhookConfiguration | undefined
  #isSynced = false
  #mustDeclare: boolean
  /** The declaration was applied by this process. Until then an existing configuration may lack webhooks. */
  #isDeclared: boolean
  #trustedSince: number | undefined
  #isDirty = true
  #wake: () => void = () => undefined

  constructor(options: ConfigurationReconcilerOptions) {
    this.#options = options
    this.#mustDeclare = options.declare !== undefined
    this.#isDeclared = options.declare === undefined
    this.#log = options.log.child({ configuration: options.name, type: options.type })
  }

  /**
   * Wall time since when the webhooks trust the bundle; undefined if they do not. A missing configuration makes no
   * calls and counts as trusting.
   */
  get trustedSince(): number | undefined {
    return this.#trustedSince
  }

  setBundle(bundle: string): void {
    if (bundle === this.#bundle) return
    this.#bundle = bundle
    this.#trustedSince = undefined
    this.#updateTrust()
    this.#dirty()
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { informers, type, name, clock, random } = this.#options
    const informer = informers.informer(configurationKind(type), { fieldSelector: `metadata.name=${name}` })
    const onAbort = (): void => this.#wake()
    signal.addEventListener('abort', onAbort)
    const unsubscribe = informer.subscribe((event) => {
      this.#known = event.type === 'deleted' ? undefined : event.object
      if (event.type === 'deleted' && this.#options.declare) this.#mustDeclare = true
      this.#updateTrust()
      if (this.#trustedSince === undefined) this.#dirty()
    })
    const synced = this.#whenSynced(informer, signal)
    let failures = 0
    while (!signal.aborted) {
      try {
        if (!this.#isDirty) await new Promise<void>((resolve) => (this.#wake = resolve))
        if (signal.aborted) break
        this.#isDirty = false
        const isWritten = await this.#write(signal)
        failures = 0
        if (isWritten) await sleep(clock, WRITE_INTERVAL_MS, signal)
      } catch (error) {
        if (signal.aborted) break
        this.#isDirty = true
        this.#log.warn('failed to write webhook configuration, retrying', { error: asError(error) })
        const pause = Math.min(WRITE_INTERVAL_MS * 2 ** failures++, MAX_BACKOFF_MS)
        await sleep(clock, jitter(random, pause, 0.2), signal).catch(() => undefined)
      }
    }
    unsubscribe()
    signal.removeEventListener('abort', onAbort)
    await synced
  }

  async #whenSynced(informer: Informer<WebhookConfiguration>, signal: AbortSignal): Promise<void> {
    try {
      await informer.whenSynced(signal)
    } catch {
      return
    }
    this.#isSynced = true
    this.#updateTrust()
  }

  async #write(signal: AbortSignal): Promise<boolean> {
    const { api, type, name, declare } = this.#options
    const kind = configurationKind(type)
    const bundle = this.#bundle
    if (bundle === '') return false
    if (declare && this.#mustDeclare) {
      this.#mustDeclare = false
      try {
        this.#known = await api.apply(kind, declare(bundle), { force: true, signal })
      } catch (error) {
        this.#mustDeclare = true
        throw error
      }
      this.#isDeclared = true
      this.#log.info('applied webhook configuration')
      this.#updateTrust()
      return true
    }
    try {
      this.#known = await api.get(kind, { name }, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#known = undefined
      this.#mustDeclare = declare !== undefined
      this.#isDirty ||= this.#mustDeclare
      this.#updateTrust()
      return false
    }
    const operations = this.#operations(this.#known, bundle)
    if (operations.length > 0) {
      this.#known = await api.patch(kind, { name }, jsonPatch(operations), { signal })
      this.#log.info('injected CA bundle into webhook configuration')
    }
    this.#updateTrust()
    return operations.length > 0
  }

  #operations(configuration: WebhookConfiguration, bundle: string): readonly JsonPatchOperation[] {
    const value = Buffer.from(bundle).toString('base64')
    return (configuration.webhooks ?? []).flatMap((webhook, index): readonly JsonPatchOperation[] => {
      if (this.#options.webhooks && !this.#options.webhooks.includes(webhook.name)) return []
      if (webhook.clientConfig.caBundle === value) return []
      return [
        // The index may refer to another webhook by now, so test the name.
        { op: 'test', path: jsonPointer('webhooks', index, 'name'), value: webhook.name },
        { op: 'add', path: jsonPointer('webhooks', index, 'clientConfig', 'caBundle'), value },
      ]
    })
  }

  /** Recomputes `trustedSince` from the known configuration. */
  #updateTrust(): void {
    const isTrusting = this.#known
      ? this.#isDeclared && this.#operations(this.#known, this.#bundle).length === 0
      : this.#isSynced && !this.#options.declare
    const before = this.#trustedSince
    this.#trustedSince = isTrusting ? (before ?? this.#options.clock.now()) : undefined
    if (this.#trustedSince !== before) this.#options.onChange()
  }

  #dirty(): void {
    this.#isDirty = true
    this.#wake()
  }
}
