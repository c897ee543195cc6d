import type { JsonPatchOperation } from '@tenure/kube'
import type { Component, ComponentDefinition, OperatorContext } from '@tenure/runtime'
import { allow, deny, mutating, type AdmissionReviewResponse, validating, type Webhook } from '@tenure/runtime/webhooks'
import { Application } from '../api/index.ts'
import type { ApplicationMetrics } from '../metrics.ts'
import { defaultImagePolicy, type ImagePolicy } from './image-policy.ts'
import { type IdentityContext, ownUsername } from './identity.ts'
import { matchConditions } from './match-conditions.ts'
import { finalizerPatch, defaultsPatch, instancePatch } from './mutate.ts'
import { MUTATE_PATH, VALIDATE_PATH, WEBHOOK_NAME } from './names.ts'
import { factsOf, type AdmissionFacts } from './request.ts'
import { reviewMutate, reviewValidate } from './review.ts'
import { decide, type AdmissionRules, type WriterIdentity } from './validate.ts'

type AdmissionContext = IdentityContext & Pick<OperatorContext, 'identity'>

export interface ApplicationAdmissionOptions {
  /**
   * Namespace that the controller watches. The webhooks also see Applications of other namespaces, which must not get
   * a finalizer because no controller would remove it. Default: all namespaces.
   */
  readonly namespace?: string | undefined
  /** Images that may run. Default `defaultImagePolicy`. */
  readonly policy?: ImagePolicy | undefined
  /** Apply the policy to writes of the operator's own HTTP API too. Default false. */
  readonly policyOnRest?: boolean | undefined
  /**
   * How the API server treats a write to an Application while no replica of the operator answers. `Fail` refuses it, so
   * that nothing bypasses the policy; the rule covers Applications only, and neither deletes nor the scale and status
   * subresources. `Ignore` lets it through, which suits a single local process as with `npm start`. Default `Fail`.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined
  readonly metrics: ApplicationMetrics
}

/** Time after which the API server stops waiting for a review, in seconds. */
const TIMEOUT_SECONDS = 5

/** Validates and defaults Applications, for the API server's webhooks and for reviews posted to the HTTP API. */
export class ApplicationAdmission {
  /** Looks up the operator's own user name, which reviews carry, before the webhooks are served. */
  readonly component: ComponentDefinition
  /** Served on every replica. */
  readonly webhooks: readonly Webhook[]
  readonly #options: ApplicationAdmissionOptions
  readonly #metrics: ApplicationMetrics
  #writer: WriterIdentity | undefined

  constructor(context: AdmissionContext, options: ApplicationAdmissionOptions) {
    this.#options = options
    this.#metrics = options.metrics
    this.component = { stage: 'serve', create: () => this.#component(context) }
    const common = {
      name: WEBHOOK_NAME,
      kind: Application,
      failurePolicy: options.failurePolicy ?? 'Fail',
      sideEffects: 'None',
      matchConditions,
      timeoutSeconds: TIMEOUT_SECONDS,
    } as const
    this.webhooks = [
      validating({
        ...common,
        path: VALIDATE_PATH,
        validate: (request) => {
          const { denied, warnings } = this.#metrics.reviewing('validate', () => {
            const decision = decide(factsOf(request), this.#rules)
            return { ...decision, operation: request.operation, allowed: decision.denied === undefined }
          })
          return denied === undefined ? allow({ warnings }) : deny(denied, { warnings })
        },
      }),
      mutating({
        ...common,
        path: MUTATE_PATH,
        mutate: (request) =>
          this.#metrics.reviewing('mutate', () => ({
            operations: this.#patch(factsOf(request), request.namespace),
            operation: request.operation,
            allowed: true,
          })).operations,
      }),
    ]
  }

  /** Answers a body posted to `/validate`: parsed JSON of any shape. Never throws. */
  validate(review: unknown): AdmissionReviewResponse {
    return answerOf(this.#metrics.reviewing('validate', () => reviewValidate(review, this.#rules)))
  }

  /** Answers a body posted to `/mutate`: parsed JSON of any shape. Never throws. */
  mutate(review: unknown): AdmissionReviewResponse {
    return answerOf(this.#metrics.reviewing('mutate', () => reviewMutate(review)))
  }

  #component(context: AdmissionContext): Component {
    return {
      name: 'application admission',
      start: async (signal) => {
        const username = await ownUsername(context, signal)
        this.#writer = username === undefined ? undefined : { username, fieldManager: context.identity.name }
      },
      stop: () => Promise.resolve(),
    }
  }

  /** Patch for the API server. It adds a label and the finalizer, which a review posted to the HTTP API does not get. */
  #patch(facts: AdmissionFacts, namespace: string | undefined): readonly JsonPatchOperation[] {
    const isWatched = this.#options.namespace === undefined || this.#options.namespace === namespace
    const patch = [...defaultsPatch(facts), ...instancePatch(facts)]
    return isWatched ? [...patch, ...finalizerPatch(facts)] : patch
  }

  get #rules(): AdmissionRules {
    const { policy = defaultImagePolicy, policyOnRest } = this.#options
    return { policy, policyOnRest, operator: this.#writer }
  }
}

function answerOf({ status, body }: AdmissionReviewResponse): AdmissionReviewResponse {
  return { status, body }
}
