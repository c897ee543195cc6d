import type { Clock, KubeApi, Random } from '@tenure/kube'
import { asError, jitter, sleep, systemClock, systemRandom, TenureError } from '@tenure/kube'
import type { CertificateWithKey } from '../../certificates/index.ts'
import { joinBundle } from '../../certificates/index.ts'
import type { Informers } from '../../informer/types.ts'
import type { Logger } from '../../log/logger.ts'
import { silentLogger } from '../../log/logger.ts'
import type { CertificateStore, SecretRef, StoredCertificates } from './certificate-store.ts'
import { MemoryCertificateStore, SecretCertificateStore } from './certificate-store.ts'
import type { ClientAddress, ConfigurationType } from './webhook-configuration.ts'
import { configurationOf, namesOf } from './webhook-configuration.ts'
import { ConfigurationReconciler } from './configuration-reconciler.ts'
import type { CertificateState, RotationPlan, RotationPolicy } from './rotation.ts'
import { firstState, planRotation, rotate } from './rotation.ts'
import type { CertificateSource } from '../server.ts'
import type { Webhook } from '../webhook.ts'

/** A configuration that others manage, such as a Helm chart, and whose webhooks this server serves. */
export interface InjectionTarget {
  readonly type: ConfigurationType
  readonly name: string
  /** Limits the injection to these webhooks. Default all. */
  readonly webhooks?: readonly string[]
}

/** Configurations that the runtime manages itself: one per type, with the same name. */
export interface Declaration {
  readonly name: string
  readonly webhooks: readonly Webhook[]
  /** A function is called when the configurations are written: a dynamic port is known by then. */
  readonly address: ClientAddress | (() => ClientAddress)
}

/** Access to the cluster. */
export interface WebhookCluster {
  readonly api: KubeApi
  readonly informers: Informers
}

export interface WebhookCertificatesOptions {
  /** Required with `secret`, `inject` and `declare`. */
  readonly cluster?: WebhookCluster | undefined
  /** Secret shared by all replicas. Default: none, certificates stay in memory, which suits a single replica only. */
  readonly secret?: SecretRef | undefined
  /** Configurations to inject the CA bundle into. Default none. */
  readonly inject?: readonly InjectionTarget[] | undefined
  /** Configurations to apply. Default none. */
  readonly declare?: Declaration | undefined
  /** Host names of the serving certificate, in addition to those of a declared address. Default none. */
  readonly dnsNames?: readonly string[] | undefined
  /** IP addresses of the serving certificate, in addition to those of a declared address. Default none. */
  readonly ipAddresses?: readonly string[] | undefined
  /** Default `webhooks`. */
  readonly commonName?: string | undefined
  /** Lifetime of a serving certificate in milliseconds. It is replaced after two thirds. Default 90 days. */
  readonly servingLife?: number | undefined
  /** Lifetime of an authority in milliseconds. It is replaced after two thirds. Default ten years. */
  readonly authorityLife?: number | undefined
  /**
   * Milliseconds from all configurations trusting a new authority to its first use, so that every API server knows it.
   * Default 5 minutes.
   */
  readonly propagation?: number | undefined
  /** Default: the system clock. */
  readonly clock?: Clock | undefined
  /** Default: the system's generator. */
  readonly random?: Random | undefined
  /** Default: no logs. */
  readonly log?: Logger | undefined
}

const DAY = 86_400_000
/** Maximum milliseconds between checks of the wall clock: timers do not notice when it jumps or the machine sleeps. */
const MAX_CHECK_INTERVAL_MS = 3_600_000
const WRITE_INTERVAL_MS = 1000
const MAX_BACKOFF_MS = 30_000

/** Creates, stores, renews and injects the certificates of a webhook server. */
export class WebhookCertificates implements CertificateSource {
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #policy: RotationPolicy
  readonly #store: CertificateStore
  readonly #reconcilers: readonly ConfigurationReconciler[]
  readonly #listeners = new Set<() => void>()
  #state: CertificateState | undefined
  readonly #onTrusted = new Set<() => void>()
  #isStale = false
  #wake: () => void = () => undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: WebhookCertificatesOptions) {
    const { clock = systemClock, random = systemRandom, log = silentLogger, declare } = options
    this.#clock = clock
    this.#random = random
    this.#log = log
    const names = declare && typeof declare.address !== 'function' ? namesOf(declare.address) : undefined
    this.#policy = {
      commonName: options.commonName ?? 'webhooks',
      dnsNames: [...new Set([...(names?.dnsNames ?? []), ...(options.dnsNames ?? [])])],
      ipAddresses: [...new Set([...(names?.ipAddresses ?? []), ...(options.ipAddresses ?? [])])],
      servingLife: options.servingLife ?? 90 * DAY,
      authorityLife: options.authorityLife ?? 3650 * DAY,
      propagation: options.propagation ?? 5 * 60_000,
    }
    const { servingLife, authorityLife, propagation } = this.#policy
    if (servingLife < 60_000 || authorityLife < 3 * servingLife || propagation > servingLife / 3) {
      throw new TenureError(
        'TENURE_WEBHOOK_CERTIFICATES',
        'Webhook certificates cannot be renewed in time: servingLife must be at least a minute and three times propagation, authorityLife at least three times servingLife.',
      )
    }
    const { secret } = options
    if (secret) {
      const { api, informers } = clusterOf(options)
      this.#store = new SecretCertificateStore(secret, api, informers)
    } else {
      this.#store = new MemoryCertificateStore()
    }
    this.#reconcilers = reconcilersFor(options, { clock, random, log, onChange: () => this.#onTrust() })
  }

  /** The serving certificate. Throws before `prepare`. */
  get serving(): CertificateWithKey {
    return this.#ready().serving
  }

  /** PEM of the authorities that callers must trust. Throws before `prepare`. */
  get bundle(): string {
    return joinBundle(this.#ready().trusted)
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when there is a serving certificate. Retries until `signal` aborts. */
  async prepare(signal: AbortSignal): Promise<void> {
    for (let failures = 0; ; failures++) {
      try {
        await this.#sync(signal)
        return
      } catch (error) {
        if (signal.aborted) throw error
        await this.#pause(failures, error, signal)
      }
    }
  }

  /** Resolves when all configurations trust the certificates; rejects if `signal` aborts before. */
  async whenTrusted(signal: AbortSignal): Promise<void> {
    const isTrusted = (): boolean => this.#reconcilers.every(({ trustedSince }) => trustedSince !== undefined)
    while (!isTrusted()) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#onTrusted.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        this.#onTrusted.add(done)
        signal.addEventListener('abort', done, { once: true })
      })
    }
  }

  /** Renews certificates and maintains the configurations until `signal` aborts. Start the server first. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#wake()
    signal.addEventListener('abort', onAbort)
    const unwatch = this.#store.watch(() => {
      this.#isStale = true
      this.#wake()
    })
    const reconcilers = this.#reconcilers.map((reconciler) => reconciler.run(signal))
    let failures = 0
    while (!signal.aborted) {
      try {
        const plan = this.#plan()
        if (this.#isStale || !plan || hasWork(plan)) {
          this.#isStale = false
          await this.#sync(signal)
          failures = 0
          // Bounds the cost of a conflict with another writer.
          await sleep(this.#clock, WRITE_INTERVAL_MS, signal)
        } else {
          await this.#wait(plan.next, signal)
        }
      } catch (error) {
        if (signal.aborted) break
        this.#isStale = true
        await this.#pause(failures++, error, signal).catch(() => undefined)
      }
    }
    unwatch()
    signal.removeEventListener('abort', onAbort)
    await Promise.all(reconcilers)
  }

  /**
   * Replaces the serving certificate now; with `authority`, starts the replacement of the authority, whose successor
   * serves once callers have trusted it for the propagation time. If another replica was faster, its certificates are
   * used.
   */
  async renewNow(
    what: 'serving' | 'authority' = 'serving',
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    await this.#sync(signal, what)
    this.#wake()
  }

  #onTrust(): void {
    this.#wake()
    for (const listener of this.#onTrusted) listener()
  }

  #ready(): CertificateState {
    if (this.#state) return this.#state
    throw new TenureError('TENURE_WEBHOOK_CERTIFICATES', 'There is no certificate yet: await prepare() first.', {
      fate: 'bug',
    })
  }

  /** Serializes calls: concurrent writes of one process would conflict. */
  #sync(signal: AbortSignal, force?: 'serving' | 'authority'): Promise<void> {
    const run = this.#last.then(() => this.#syncNow(signal, force))
    this.#last = run.catch(() => undefined)
    return run
  }

  async #syncNow(signal: AbortSignal, wanted?: 'serving' | 'authority'): Promise<void> {
    for (let force = wanted; ; force = undefined) {
      const stored = await this.#store.read(signal)
      if (stored.state) this.#adopt(stored.state)
      const next = this.#nextState(stored, force)
      if (next === stored.state) return
      if (await this.#store.write(next, stored.version, signal)) {
        this.#adopt(next)
        return
      }
      // Another replica wrote first; its state wins and most likely is what was requested.
      this.#log.debug('another replica wrote the webhook certificates')
    }
  }

  #nextState(stored: StoredCertificates, force: 'serving' | 'authority' | undefined): CertificateState {
    const context = { clock: this.#clock, random: this.#random }
    if (!stored.state) {
      if (stored.fault !== undefined) {
        this.#log.error('replacing unusable stored webhook certificates', { fault: stored.fault })
      }
      if (!this.#state) return firstState(this.#policy, context, stored.trusted)
      // Deleting the stored certificates requests new ones; the current one serves until callers trust the successor.
      const plan = planRotation(this.#state, this.#policy, this.#moment('authority'))
      const next = rotate(this.#state, plan, this.#policy, context)
      return { ...next, trusted: [...new Set([...next.trusted, ...stored.trusted])] }
    }
    const plan = planRotation(stored.state, this.#policy, this.#moment(force))
    if (hasWork(plan)) {
      const { newAuthority, newServing } = plan
      this.#log.info('rotating webhook certificates', { newAuthority, newServing, dropped: plan.drop.length })
    }
    return rotate(stored.state, plan, this.#policy, context)
  }

  #plan(): RotationPlan | undefined {
    return this.#state && planRotation(this.#state, this.#policy, this.#moment(undefined))
  }

  #moment(force: 'serving' | 'authority' | undefined): Parameters<typeof planRotation>[2] {
    const times = this.#reconcilers.map((reconciler) => reconciler.trustedSince)
    const isTrusted = times.every((time) => time !== undefined)
    return { now: this.#clock.now(), trustedSince: isTrusted ? Math.max(0, ...times) : undefined, force }
  }

  #adopt(state: CertificateState): void {
    const before = this.#state
    this.#state = state
    const bundle = joinBundle(state.trusted)
    for (const reconciler of this.#reconcilers) reconciler.setBundle(bundle)
    if (before && before.serving.certificate !== state.serving.certificate) {
      for (const listener of this.#listeners) listener()
    }
  }

  async #wait(until: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const delay = Math.min(Math.max(until - this.#clock.now(), 0), MAX_CHECK_INTERVAL_MS)
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(delay, resolve)
      this.#wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  async #pause(failures: number, thrown: unknown, signal: AbortSignal): Promise<void> {
    this.#log.warn('failed to sync webhook certificates, retrying', { error: asError(thrown) })
    await sleep(
      this.#clock,
      jitter(this.#random, Math.min(WRITE_INTERVAL_MS * 2 ** failures, MAX_BACKOFF_MS), 0.2),
      signal,
    )
  }
}

function hasWork(plan: RotationPlan): boolean {
  return plan.newAuthority || plan.newServing || plan.drop.length > 0
}

function reconcilersFor(
  options: WebhookCertificatesOptions,
  context: {
    readonly clock: Clock
    readonly random: Random
    readonly log: Logger
    readonly onChange: () => void
  },
): readonly ConfigurationReconciler[] {
  const { inject = [], declare } = options
  if (inject.length === 0 && !declare) return []
  const shared = { ...clusterOf(options), ...context }
  const reconcilers = inject.map((target) => new ConfigurationReconciler({ ...target, ...shared }))
  if (!declare) return reconcilers
  const { name, webhooks, address } = declare
  for (const type of new Set(webhooks.map((webhook) => webhook.type))) {
    const make = (bundle: string) =>
      configurationOf(type, name, webhooks, typeof address === 'function' ? address() : address, bundle)
    reconcilers.push(new ConfigurationReconciler({ type, name, declare: make, ...shared }))
  }
  return reconcilers
}

function clusterOf(options: WebhookCertificatesOptions): WebhookCluster {
  if (options.cluster) return options.cluster
  throw new TenureError(
    'TENURE_WEBHOOK_CERTIFICATES',
    'Webhook certificates in a Secret or in configurations need a cluster: set its api and informers.',
  )
}
