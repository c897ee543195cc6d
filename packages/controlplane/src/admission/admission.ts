import type { Clock, KubeObject, Random } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { silentLogger } from '@tenure/runtime'
import { isEqual } from '../registry/json.ts'
import type { Admission, AdmissionAttributes } from '../registry/request.ts'
import { scaleOf } from '../registry/scale.ts'
import type { ResourceCatalog, ResourceDefinition } from '../registry/types.ts'
import type { Storage } from '../storage/types.ts'
import type { CallContext, ResolveService } from './webhooks/client/call-webhook.ts'
import { callWebhook } from './webhooks/client/call-webhook.ts'
import type { WebhookCaller } from './webhooks/client/caller.ts'
import { CallFailure, denial, dryRunUnsupported, internalError } from './webhooks/errors.ts'
import { HttpsCaller } from './webhooks/client/https-caller.ts'
import { conditionsHold } from './webhooks/match-conditions.ts'
import type { Authorize } from './webhooks/match-conditions.ts'
import type { SeenObjects } from './webhooks/matching.ts'
import { WebhookMatching } from './webhooks/matching.ts'
import { checkPlace, patchedBy, settled } from './webhooks/mutation.ts'
import { Reinvocation } from './webhooks/reinvocation.ts'
import type { ReviewRequest, Verdict } from './webhooks/review.ts'
import { requestOf } from './webhooks/review.ts'
import { isExempt } from './webhooks/rules.ts'
import { serviceResolver } from './webhooks/client/service-resolver.ts'
import { converted, hasOwnKind, withScale } from './webhooks/versions.ts'
import type { Webhook } from './webhooks/webhook.ts'
import { MUTATING, VALIDATING, WebhookSource } from './webhooks/webhook-source.ts'

export interface AdmissionOptions {
  /** Where webhook configurations, namespaces and services are read; changes of the former count at once. */
  readonly storage: Storage
  /** Which versions of a resource are equivalent. */
  readonly catalog: ResourceCatalog
  readonly clock: Clock
  readonly random: Random
  /** The server's own plugins, which come before webhooks. Default: none. */
  readonly builtIn?: Admission | undefined
  /** Asked when all others have agreed, and only to refuse: what it books is as good as stored. Default: nobody. */
  readonly last?: Admission | undefined
  /** Carries reviews to webhooks. Default: HTTPS, on connections that are kept. */
  readonly caller?: WebhookCaller | undefined
  /** Where the service of a webhook is reached. Default: only services of type ExternalName are. */
  readonly resolveService?: ResolveService | undefined
  /** Answers the `authorizer` of conditions. Default: nobody may do anything. */
  readonly authorize?: Authorize | undefined
  /** Told of webhooks that failed and were ignored. Default: nobody is. */
  readonly log?: Logger | undefined
}

export interface WebhookAdmission extends Admission {
  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean
  /** Follows configurations no more and closes kept connections. */
  close(): void
}

type Warn = (warning: string) => void

/** A webhook that is to be called, the version of the resource that it wants, and what it is shown. */
interface Invocation {
  readonly webhook: Webhook
  readonly definition: ResourceDefinition
  readonly seen: SeenObjects
  readonly request: ReviewRequest
}

/** Admission as the real server has it: its own plugins, then the webhooks that are configured. */
export function createAdmission(options: AdmissionOptions): WebhookAdmission {
  return new Chain(options)
}

class Chain implements WebhookAdmission {
  readonly #builtIn: Admission | undefined
  readonly #last: Admission | undefined
  readonly #random: Random
  readonly #log: Logger
  readonly #caller: WebhookCaller
  readonly #context: CallContext
  readonly #mutating: WebhookSource
  readonly #validating: WebhookSource
  readonly #matching: WebhookMatching
  readonly #endCatalog: () => void
  readonly #authorize: Authorize
  /** What `concerns` found, by definition; it is asked before every write. */
  #known = new WeakMap<ResourceDefinition, Map<string, boolean>>()

  constructor(options: AdmissionOptions) {
    const { storage, catalog, clock, random, builtIn, log = silentLogger } = options
    this.#builtIn = builtIn
    this.#last = options.last
    this.#random = random
    this.#log = log
    this.#caller = options.caller ?? new HttpsCaller()
    this.#context = {
      caller: this.#caller,
      resolveService: options.resolveService ?? serviceResolver(storage),
      clock,
    }
    const forget = (): void => {
      this.#known = new WeakMap()
    }
    this.#mutating = new WebhookSource(storage, MUTATING, forget)
    this.#validating = new WebhookSource(storage, VALIDATING, forget)
    this.#matching = new WebhookMatching(storage, catalog)
    this.#endCatalog = catalog.onChange(forget)
    this.#authorize = options.authorize ?? (() => ({ allowed: false, reason: '' }))
  }

  close(): void {
    this.#mutating.close()
    this.#validating.close()
    this.#matching.close()
    this.#endCatalog()
    this.#caller.close()
  }

  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean {
    const own = [this.#builtIn, this.#last]
    if (own.some((plugin) => plugin && (plugin.concerns?.(operation, definition, subresource) ?? true))) return true
    let known = this.#known.get(definition)
    if (!known) this.#known.set(definition, (known = new Map()))
    const key = `${operation} ${subresource}`
    let answer = known.get(key)
    if (answer === undefined) {
      const isConcerned = (webhook: Webhook): boolean =>
        this.#matching.versionFor(webhook, operation, definition, subresource) !== undefined
      answer =
        !isExempt(definition) &&
        (this.#mutating.webhooks.some(isConcerned) || this.#validating.webhooks.some(isConcerned))
      known.set(key, answer)
    }
    return answer
  }

  async mutate(attributes: AdmissionAttributes, warn: Warn): Promise<KubeObject | undefined> {
    const first = await this.#builtInMutation(attributes, warn)
    const webhooks = isExempt(attributes.definition) ? [] : this.#mutating.webhooks
    if (webhooks.length === 0) return first
    const reinvocation = new Reinvocation()
    const object = await this.#round({ ...attributes, object: first }, webhooks, reinvocation, warn)
    if (!reinvocation.isNeeded) return object
    reinvocation.begin()
    const again = await this.#builtInMutation({ ...attributes, object }, warn)
    if (!isEqual(again, object)) reinvocation.changed()
    return this.#round({ ...attributes, object: again }, webhooks, reinvocation, warn)
  }

  async validate(attributes: AdmissionAttributes, warn: Warn): Promise<void> {
    const { operation, definition, subresource } = attributes
    await this.#validateWithWebhooks(attributes, warn)
    if (this.#last && (this.#last.concerns?.(operation, definition, subresource) ?? true)) {
      await this.#last.validate(attributes, warn)
    }
  }

  async #validateWithWebhooks(attributes: AdmissionAttributes, warn: Warn): Promise<void> {
    const { operation, definition, subresource } = attributes
    if (this.#builtIn && (this.#builtIn.concerns?.(operation, definition, subresource) ?? true)) {
      await this.#builtIn.validate(attributes, warn)
    }
    if (isExempt(definition)) return
    const invocations: Invocation[] = []
    for (const webhook of this.#validating.webhooks) {
      const found = await this.#invocation(webhook, attributes)
      if (found) invocations.push(found)
    }
    const results = await Promise.allSettled(
      invocations.map(async (invocation) => {
        const { webhook } = invocation
        const verdict = await this.#ask(invocation, attributes.dryRun, false, warn)
        if (verdict && !verdict.isAllowed) throw denial(webhook.name, verdict.status)
      }),
    )
    // The real server tells of whoever was fastest; the first in order is one of those, and the same every time.
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #builtInMutation(attributes: AdmissionAttributes, warn: Warn): Promise<KubeObject | undefined> {
    const { operation, definition, subresource, object } = attributes
    const isConcerned = this.#builtIn && (this.#builtIn.concerns?.(operation, definition, subresource) ?? true)
    return isConcerned ? this.#builtIn?.mutate(attributes, warn) : object
  }

  /** One after the other, each sees what those before it made of the object. */
  async #round(
    given: AdmissionAttributes,
    webhooks: readonly Webhook[],
    reinvocation: Reinvocation,
    warn: Warn,
  ): Promise<KubeObject | undefined> {
    let attributes = given
    for (const webhook of webhooks) {
      if (!reinvocation.allows(webhook.id)) continue
      const found = await this.#invocation(webhook, attributes)
      if (!found) continue
      const verdict = await this.#ask(found, attributes.dryRun, true, warn)
      if (verdict && !verdict.isAllowed) throw denial(webhook.name, verdict.status)
      const object = verdict && this.#patched(found, attributes, verdict)
      if (object && !isEqual(object, attributes.object)) {
        attributes = { ...attributes, object }
        reinvocation.changed()
      }
      if (webhook.isReinvocable) reinvocation.invoked(webhook.id)
    }
    return attributes.object
  }

  /** The object that a webhook's patch makes, in the version of the request. */
  #patched(
    { webhook, definition, seen }: Invocation,
    { operation, definition: requested, object, subresource }: AdmissionAttributes,
    verdict: Verdict,
  ): KubeObject | undefined {
    let patched: KubeObject | undefined
    try {
      patched = patchedBy(webhook.name, verdict, seen.object)
    } catch (error) {
      this.#excuse(webhook, error)
    }
    if (!patched || !object) return undefined
    const paths = subresource === 'scale' ? requested.scale : undefined
    if (paths) return withScale(object, paths, patched)
    if (hasOwnKind(requested, subresource)) return patched
    if (operation === 'CREATE') checkPlace(webhook.name, object, patched)
    return converted(settled(definition, patched), definition, requested)
  }

  /** How a webhook is to be called; undefined if it is not. */
  async #invocation(webhook: Webhook, attributes: AdmissionAttributes): Promise<Invocation | undefined> {
    const { operation, definition: requested, subresource } = attributes
    const definition = this.#matching.versionFor(webhook, operation, requested, subresource)
    if (!definition) return undefined
    const seen = seenBy(definition, attributes)
    if (!this.#matching.selects(webhook, attributes, seen)) return undefined
    const request = requestOf(definition, attributes, seen, this.#random)
    const isCalled =
      webhook.matchConditions.length === 0 ||
      (await conditionsHold(webhook, attributes, request, seen, this.#authorize))
    return isCalled ? { webhook, definition, seen, request } : undefined
  }

  /** Undefined if it failed and that does not matter. */
  async #ask(
    { webhook, request }: Invocation,
    dryRun: boolean,
    isMutating: boolean,
    warn: Warn,
  ): Promise<Verdict | undefined> {
    if (dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
      throw dryRunUnsupported(webhook.name)
    }
    try {
      const verdict = await callWebhook(this.#context, webhook, request, isMutating)
      // What can not stand in a header is left out, as in the real server.
      for (const warning of verdict.warnings) if (!/\p{Cc}/u.test(warning)) warn(warning)
      return verdict
    } catch (error) {
      this.#excuse(webhook, error)
      return undefined
    }
  }

  /** Throws, unless the failure of this webhook is to be ignored. */
  #excuse({ name, isFailureIgnored }: Webhook, error: unknown): void {
    if (!(error instanceof CallFailure)) throw error
    if (!isFailureIgnored) throw internalError(error.message)
    // Where in our code it was noticed helps nobody.
    this.#log.warn('webhook failed, and its failure is ignored', { webhook: name, reason: error.message })
  }
}

/** The objects as a webhook for this version gets them. */
function seenBy(definition: ResourceDefinition, attributes: AdmissionAttributes): SeenObjects {
  const { definition: requested, subresource } = attributes
  const paths = subresource === 'scale' ? requested.scale : undefined
  const view = (object: KubeObject | undefined): KubeObject | undefined => {
    if (!object) return undefined
    if (paths) return scaleOf(object, paths, requested.isBuiltIn)
    // An eviction is no pod, in whatever version.
    return hasOwnKind(requested, subresource) ? object : converted(object, requested, definition)
  }
  return { object: view(attributes.object), oldObject: view(attributes.oldObject) }
}
