import type { JsonPatchOperation, Kind, KubeObject, LabelSelector } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { AdmissionRequest, AdmissionOperation } from './admission.ts'
import { changed, patched, AdmissionResult } from './admission-result.ts'

export interface WebhookRule {
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly operations: readonly (AdmissionOperation | '*')[]
  /** `pods`, `pods/status`, `*`. */
  readonly resources: readonly string[]
  /** Default `*`. */
  readonly scope?: 'Cluster' | 'Namespaced' | '*'
}

export interface AdmissionContext {
  /** Aborts when the API server no longer waits for the response. */
  readonly signal: AbortSignal
  readonly log: Logger
}

interface WebhookDefinition<T extends KubeObject> {
  /** Fully qualified and unique within its configuration: `websites.validate.example.dev`. */
  readonly name: string
  /** Kind of the objects that the handler receives. */
  readonly kind: Kind<T>
  /** Default CREATE and UPDATE. */
  readonly operations?: readonly AdmissionOperation[]
  /** Which requests are sent to the handler, if kind and operations are not enough. Default: derived from both. */
  readonly rules?: readonly WebhookRule[]
  /** URL path. Default as in controller-runtime: `/validate-example-dev-v1-website`. */
  readonly path?: string
  /**
   * Whether a request is denied or admitted if the webhook is unreachable or its handler fails. There is no default:
   * `Fail` makes the availability of this server critical, `Ignore` makes its checks optional.
   */
  readonly failurePolicy: 'Fail' | 'Ignore'
  /** `Equivalent` also matches requests through other versions of the kind, converted. Default `Equivalent`. */
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  /** `NoneOnDryRun` if the handler has side effects, but not if `dryRun`. Default `None`. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /** 1 to 30. Default 10. */
  readonly timeoutSeconds?: number
  /** Default: every namespace. */
  readonly namespaceSelector?: LabelSelector
  /** Default: every object. */
  readonly objectSelector?: LabelSelector
  /** CEL expressions that must all hold. Default none. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
}

export interface ValidatingDefinition<T extends KubeObject> extends WebhookDefinition<T> {
  readonly validate: (
    request: AdmissionRequest<T>,
    context: AdmissionContext,
  ) => AdmissionResult<never> | Promise<AdmissionResult<never>>
}

/** A changed object, a patch, or a result. The object in the request is frozen: return a new one. */
export type Mutation<T extends KubeObject> = T | readonly JsonPatchOperation[] | AdmissionResult<T>

export interface MutatingDefinition<T extends KubeObject> extends WebhookDefinition<T> {
  /** `IfNeeded`: call again if a later webhook changed the object. Default `Never`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  readonly mutate: (request: AdmissionRequest<T>, context: AdmissionContext) => Mutation<T> | Promise<Mutation<T>>
}

/** A declared webhook: its configuration and its handler. Created by `validating` and `mutating`. */
export interface Webhook {
  readonly type: 'validating' | 'mutating'
  readonly name: string
  readonly path: string
  readonly rules: readonly Required<WebhookRule>[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly matchPolicy: 'Equivalent' | 'Exact'
  readonly sideEffects: 'None' | 'NoneOnDryRun'
  readonly timeoutSeconds: number
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[]
  readonly reinvocationPolicy: 'Never' | 'IfNeeded'
  readonly admit: (request: AdmissionRequest, context: AdmissionContext) => Promise<AdmissionResult>
}

/** Declares a webhook that allows or denies requests. */
export function validating<T extends KubeObject>(definition: ValidatingDefinition<T>): Webhook {
  const { validate } = definition
  return {
    ...common(definition, 'validating'),
    reinvocationPolicy: 'Never',
    // The rules guarantee that the object is a T.
    admit: async (request, context) => validate(request as AdmissionRequest<T>, context),
  }
}

/** Declares a webhook that may change the object; the runtime computes the patch. */
export function mutating<T extends KubeObject>(definition: MutatingDefinition<T>): Webhook {
  const { mutate } = definition
  return {
    ...common(definition, 'mutating'),
    reinvocationPolicy: definition.reinvocationPolicy ?? 'Never',
    admit: async (request, context) => {
      const mutation = await mutate(request as AdmissionRequest<T>, context)
      if (mutation instanceof AdmissionResult) return mutation
      return isOperations(mutation) ? patched(mutation) : changed(mutation)
    },
  }
}

function common<T extends KubeObject>(
  definition: WebhookDefinition<T>,
  type: Webhook['type'],
): Omit<Webhook, 'admit' | 'reinvocationPolicy'> {
  const { kind, name, path = defaultPath(type, kind), timeoutSeconds = 10 } = definition
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}$/.test(name)) {
    throw invalid(name, 'its name must be a lower-case DNS name of at least three parts, such as websites.example.dev')
  }
  if (!path.startsWith('/') || /[?#\s]/.test(path)) throw invalid(name, `"${path}" is not a path`)
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > 30) {
    throw invalid(name, 'timeoutSeconds must be a whole number from 1 to 30')
  }
  const rules = definition.rules ?? [
    {
      apiGroups: [kind.group],
      apiVersions: [kind.version],
      operations: definition.operations ?? ['CREATE', 'UPDATE'],
      resources: [kind.plural],
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    },
  ]
  return {
    type,
    name,
    path,
    rules: rules.map((rule) => ({ ...rule, scope: rule.scope ?? '*' })),
    failurePolicy: definition.failurePolicy,
    matchPolicy: definition.matchPolicy ?? 'Equivalent',
    sideEffects: definition.sideEffects ?? 'None',
    timeoutSeconds,
    namespaceSelector: definition.namespaceSelector ?? {},
    objectSelector: definition.objectSelector ?? {},
    matchConditions: definition.matchConditions ?? [],
  }
}

function defaultPath(type: Webhook['type'], kind: Kind): string {
  const verb = type === 'validating' ? 'validate' : 'mutate'
  return `/${verb}-${kind.group.replaceAll('.', '-')}-${kind.version}-${kind.kind.toLowerCase()}`
}

function isOperations(mutation: object): mutation is readonly JsonPatchOperation[] {
  return Array.isArray(mutation)
}

function invalid(name: string, why: string): TenureError {
  return new TenureError('TENURE_WEBHOOK_DEFINITION', `Webhook "${name}" is invalid: ${why}.`)
}
