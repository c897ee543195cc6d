import { Client, type JsonPatchOperation } from '@tenure/kube'
import type { ComponentDefinition, ReviewResponse, Webhook } from '@tenure/runtime'
import { allow, deny, mutating, validating } from '@tenure/runtime'
import { Application, FIELD_MANAGER } from '../api/index.ts'
import { ApplicationMetrics } from '../metrics.ts'
import { defaultImagePolicy, type ImagePolicy } from './image-policy.ts'
import { ownUsername } from './identity.ts'
import { matchConditions } from './match-conditions.ts'
import { finalization, mutation } from './mutate.ts'
import { MUTATE_PATH, VALIDATE_PATH, WEBHOOK_NAME } from './names.ts'
import { factsOf, type AdmissionFacts } from './request.ts'
import { reviewMutate, reviewValidate } from './review.ts'
import { judge, type AdmissionRules, type OperatorIdentity } from './validate.ts'

export interface ApplicationAdmissionOptions {
  /**
   * Whose Applications the controller looks after. The API server asks about those of others too, and they must not get
   * a finalizer that nobody would take off again. Default: those of all namespaces.
   */
  readonly namespace?: string | undefined
  /** Which images may run. Default `defaultImagePolicy`. */
  readonly policy?: ImagePolicy | undefined
  /** Hold the policy against what comes through the operator's own HTTP API too. Default false. */
  readonly policyOnRest?: boolean | undefined
  /**
   * What becomes of a write to an Application while no replica of the operator can be asked. `Fail`: it is refused, so
   * that nothing gets past the policy; the rule names Applications only, so that nobody else's writes ever wait for us,
   * and an Application is deleted, scaled and given a status without us. `Ignore`: it is let through, which suits
   * a single process on one machine that is stopped and started at will, as with `npm start`. Default `Fail`.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined
  /** In whose name the operator writes. Default: what the manager's client says. */
  readonly fieldManager?: string | undefined
  /** Where reviews are counted. Default: nowhere. */
  readonly metrics?: ApplicationMetrics | undefined
}

/** The API server waits for us no longer than that; a judgement takes well under a millisecond. */
const TIMEOUT_SECONDS = 5

/**
 * Who may write which Applications, and what they lack on their way in: the same judgement for the API server's
 * webhooks and for the reviews that are posted to the operator's HTTP API.
 */
export class ApplicationAdmission {
  /** To be served for the API server, on every replica. */
  readonly webhooks: readonly Webhook[]
  readonly #options: ApplicationAdmissionOptions
  readonly #metrics: ApplicationMetrics
  #operator: OperatorIdentity | undefined

  constructor(options: ApplicationAdmissionOptions = {}) {
    this.#options = options
    this.#metrics = options.metrics ?? new ApplicationMetrics()
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
            const judgement = judge(factsOf(request), this.#rules)
            return { ...judgement, operation: request.operation, allowed: judgement.denied === undefined }
          })
          return denied === undefined ? allow({ warnings }) : deny(denied, { warnings })
        },
      }),
      mutating({
        ...common,
        path: MUTATE_PATH,
        mutate: (request) =>
          this.#metrics.reviewing('mutate', () => ({
            operations: this.#completion(factsOf(request), request.namespace),
            operation: request.operation,
            allowed: true,
          })).operations,
      }),
    ]
  }

  /** Learns, before the webhooks are served, by what name the API server will call us in its reviews. */
  readonly component: ComponentDefinition = {
    stage: 'serve',
    create: (context) => ({
      name: 'application admission',
      start: async (signal) => {
        const username = await ownUsername(context, signal)
        const { api } = context
        const fieldManager = this.#options.fieldManager ?? (api instanceof Client ? api.fieldManager : FIELD_MANAGER)
        this.#operator = username === undefined ? undefined : { username, fieldManager }
      },
      stop: () => Promise.resolve(),
    }),
  }

  /** Answers what was posted to `/validate`: parsed JSON of any shape. Never throws. */
  validate(review: unknown): ReviewResponse {
    return answerOf(this.#metrics.reviewing('validate', () => reviewValidate(review, this.#rules)))
  }

  /** Answers what was posted to `/mutate`: parsed JSON of any shape. Never throws. */
  mutate(review: unknown): ReviewResponse {
    return answerOf(this.#metrics.reviewing('mutate', () => reviewMutate(review)))
  }

  /** What is done for the API server. Who posts a review just asks, and no controller waits for what he has. */
  #completion(facts: AdmissionFacts, namespace: string | undefined): readonly JsonPatchOperation[] {
    const isOurs = this.#options.namespace === undefined || this.#options.namespace === namespace
    return isOurs ? [...mutation(facts), ...finalization(facts)] : mutation(facts)
  }

  get #rules(): AdmissionRules {
    const { policy = defaultImagePolicy, policyOnRest } = this.#options
    return { policy, policyOnRest, operator: this.#operator }
  }
}

function answerOf({ status, body }: ReviewResponse): ReviewResponse {
  return { status, body }
}
