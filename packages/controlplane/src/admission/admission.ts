import type { Clock, KubeObject, Random } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import type { Logger } from '@tenure/runtime'
import { silentLogger } from '@tenure/runtime'
import type { Admission, AdmissionAttributes } from '../registry/request.ts'
import { scaleOf } from '../registry/subresources/scale.ts'
import type { ResourceCatalog, ResourceDefinition } from '../registry/types.ts'
import type { Storage } from '../storage/types.ts'
import type { WebhookCallContext, ResolveService } from './webhooks/client/call-webhook.ts'
import { callWebhook } from './webhooks/client/call-webhook.ts'
import type { WebhookCaller } from './webhooks/client/caller.ts'
import { CallFailure, denial, dryRunUnsupported, internalError } from './webhooks/errors.ts'
import { HttpsCaller } from './webhooks/client/https-caller.ts'
import { conditionsHold } from './webhooks/match-conditions.ts'
import type { Authorize } from './webhooks/match-conditions.ts'
import type { ReviewedObjects } from './webhooks/matching.ts'
import { WebhookMatching } from './webhooks/matching.ts'
import { checkNameUnchanged, patchedBy, decodedWithDefaults } from './webhooks/mutation.ts'
import { Reinvocation } from './webhooks/reinvocation.ts'
import type { SentReviewRequest, WebhookReviewResponse } from './webhooks/review.ts'
import { requestOf } from './webhooks/review.ts'
import { isExempt } from './webhooks/rules.ts'
import { serviceResolver } from './webhooks/client/service-resolver.ts'
import { converted, hasOwnKind, withScale } from './webhooks/versions.ts'
import type { StoredWebhookConfig } from './webhooks/webhook.ts'
import { MUTATING, VALIDATING, WebhookSource } from './webhooks/webhook-source.ts'

export interface AdmissionOptions {
  /** Source of webhook configurations, namespaces and services. Changes of configurations take effect at once. */
  readonly storage: Storage
  /** Tells which versions of a resource are equivalent. */
  readonly catalog: ResourceCatalog
  readonly clock: Clock
  readonly random: Random
  /** The API server's own plugins, which run before webhooks. Default: none. */
  readonly builtIn?: Admission | undefined
  /** Validates after all others have admitted the request, because it reserves quota. Default: none. */
  readonly last?: Admission | undefined
  /** Sends reviews to webhooks. Default: HTTPS with keep-alive. */
  readonly caller?: WebhookCaller | undefined
  /** Resolves the address of a webhook's Service. Default: resolves only Services of type ExternalName. */
  readonly resolveService?: ResolveService | undefined
  /** Answers the `authorizer` of match conditions. Default: denies everything. */
  readonly authorize?: Authorize | undefined
  /** Logs ignored webhook failures. Default: silent. */
  readonly log?: Logger | undefined
}

export interface WebhookAdmission extends Admission {
  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean
  /** Stops watching configurations and closes connections. */
  close(): void
}

type Warn = (warning: string) => void

/** A webhook to call, the version of the resource that it expects, and the objects and request that it receives. */
interface Invocation {
  readonly webhook: StoredWebhookConfig
  readonly definition: ResourceDefinition
  readonly objects: ReviewedObjects
  readonly request: SentReviewRequest
}

/** Admission as in kube-apiserver: built-in plugins first, then the configured webhooks. */
export function createAdmission(options: AdmissionOptions): WebhookAdmission {
  return new WebhookAdmissionController(options)
}

class WebhookAdmissionController implements WebhookAdmission {
  readonly #builtIn: Admission | undefined
  readonly #last: Admission | undefined
  readonly #random: Random
  readonly #log: Logger
  readonly #caller: WebhookCaller
  readonly #context: WebhookCallContext
  readonly #mutating: WebhookSource
  readonly #validating: WebhookSource
  readonly #matching: WebhookMatching
  readonly #unsubscribe: () => void
  readonly #authorize: Authorize
  /** Caches `concerns`, which is called before every write. */
  #concernsCache = new WeakMap<ResourceDefinition, Map<string, boolean>>()

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
      this.#concernsCache = new WeakMap()
    }
    this.#mutating = new WebhookSource(storage, MUTATING, forget)
    this.#validating = new WebhookSource(storage, VALIDATING, forget)
    this.#matching = new WebhookMatching(storage, catalog)
    this.#unsubscribe = catalog.onChange(forget)
    this.#authorize = options.authorize ?? (() => ({ allowed: false, reason: '' }))
  }

  close(): void {
    this.#mutating.close()
    this.#validating.close()
    this.#matching.close()
    this.#unsubscribe()
    this.#caller.close()
  }

  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean {
    const own = [this.#builtIn, this.#last]
    if (own.some((plugin) => plugin && (plugin.concerns?.(operation, definition, subresource) ?? true))) return true
    let known = this.#concernsCache.get(definition)
    if (!known) this.#concernsCache.set(definition, (known = new Map()))
    const key = `${operation} ${subresource}`
    let answer = known.get(key)
    if (answer === undefined) {
      const isConcerned = (webhook: StoredWebhookConfig): boolean =>
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
    if (!isDeepEqual(again, object)) reinvocation.changed()
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
        const response = await this.#call(invocation, attributes.dryRun, false, warn)
        if (response && !response.isAllowed) throw denial(webhook.name, response.status)
      }),
    )
    // kube-apiserver reports the fastest failure; the first in order is deterministic.
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #builtInMutation(attributes: AdmissionAttributes, warn: Warn): Promise<KubeObject | undefined> {
    const { operation, definition, subresource, object } = attributes
    const isConcerned = this.#builtIn && (this.#builtIn.concerns?.(operation, definition, subresource) ?? true)
    return isConcerned ? this.#builtIn?.mutate(attributes, warn) : object
  }

  /** Calls the webhooks one after the other; each receives the object as the previous one left it. */
  async #round(
    given: AdmissionAttributes,
    webhooks: readonly StoredWebhookConfig[],
    reinvocation: Reinvocation,
    warn: Warn,
  ): Promise<KubeObject | undefined> {
    let attributes = given
    for (const webhook of webhooks) {
      if (!reinvocation.allows(webhook.id)) continue
      const found = await this.#invocation(webhook, attributes)
      if (!found) continue
      const response = await this.#call(found, attributes.dryRun, true, warn)
      if (response && !response.isAllowed) throw denial(webhook.name, response.status)
      const object = response && this.#patched(found, attributes, response)
      if (object && !isDeepEqual(object, attributes.object)) {
        attributes = { ...attributes, object }
        reinvocation.changed()
      }
      if (webhook.isReinvocable) reinvocation.invoked(webhook.id)
    }
    return attributes.object
  }

  /** The patched object in the version of the request. */
  #patched(
    { webhook, definition, objects }: Invocation,
    { operation, definition: requested, object, subresource }: AdmissionAttributes,
    response: WebhookReviewResponse,
  ): KubeObject | undefined {
    let patched: KubeObject | undefined
    try {
      patched = patchedBy(webhook.name, response, objects.object)
    } catch (error) {
      this.#handleFailure(webhook, error)
    }
    if (!patched || !object) return undefined
    const paths = subresource === 'scale' ? requested.scale : undefined
    if (paths) return withScale(object, paths, patched)
    if (hasOwnKind(requested, subresource)) return patched
    if (operation === 'CREATE') checkNameUnchanged(webhook.name, object, patched)
    return converted(decodedWithDefaults(definition, patched), definition, requested)
  }

  /** Returns undefined if the webhook is not called for this request. */
  async #invocation(webhook: StoredWebhookConfig, attributes: AdmissionAttributes): Promise<Invocation | undefined> {
    const { operation, definition: requested, subresource } = attributes
    const definition = this.#matching.versionFor(webhook, operation, requested, subresource)
    if (!definition) return undefined
    const objects = reviewedObjects(definition, attributes)
    if (!this.#matching.selects(webhook, attributes, objects)) return undefined
    const request = requestOf(definition, attributes, objects, this.#random)
    const isCalled =
      webhook.matchConditions.length === 0 ||
      (await conditionsHold(webhook, attributes, request, objects, this.#authorize))
    return isCalled ? { webhook, definition, objects, request } : undefined
  }

  /** Returns undefined if the call failed and the failure is ignored. */
  async #call(
    { webhook, request }: Invocation,
    dryRun: boolean,
    isMutating: boolean,
    warn: Warn,
  ): Promise<WebhookReviewResponse | undefined> {
    if (dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
      throw dryRunUnsupported(webhook.name)
    }
    try {
      const response = await callWebhook(this.#context, webhook, request, isMutating)
      // kube-apiserver drops warnings that are not valid in a header.
      for (const warning of response.warnings) if (!/\p{Cc}/u.test(warning)) warn(warning)
      return response
    } catch (error) {
      this.#handleFailure(webhook, error)
      return undefined
    }
  }

  /** Throws unless the webhook's failurePolicy is Ignore. */
  #handleFailure({ name, isFailureIgnored }: StoredWebhookConfig, error: unknown): void {
    if (!(error instanceof CallFailure)) throw error
    if (!isFailureIgnored) throw internalError(error.message)
    this.#log.warn('webhook call failed, ignored by failurePolicy', { webhook: name, reason: error.message })
  }
}

/** The objects in the version that the webhook expects. */
function reviewedObjects(definition: ResourceDefinition, attributes: AdmissionAttributes): ReviewedObjects {
  const { definition: requested, subresource } = attributes
  const paths = subresource === 'scale' ? requested.scale : undefined
  const view = (object: KubeObject | undefined): KubeObject | undefined => {
    if (!object) return undefined
    if (paths) return scaleOf(object, paths, requested.isBuiltIn)
    // The body of such a subresource, for example an Eviction, is not converted.
    return hasOwnKind(requested, subresource) ? object : converted(object, requested, definition)
  }
  return { object: view(attributes.object), oldObject: view(attributes.oldObject) }
}
