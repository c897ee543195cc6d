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
  /** Aborts when the API server no longer waits for the answer. */
  readonly signal: AbortSignal
  readonly log: Logger
}

interface WebhookDefinition<T extends KubeObject> {
  /** Fully qualified, and unique within its configuration: `websites.validate.example.dev`. */
  readonly name: string
  /** Whose objects the handler gets. */
  readonly kind: Kind<T>
  /** Default CREATE and UPDATE. */
  readonly operations?: readonly AdmissionOperation[]
  /** What is sent to the handler, where kind and operations do not say enough. Default: made of those two. */
  readonly rules?: readonly WebhookRule[]
  /** Where it is served. Default as controller-runtime has it: `/validate-example-dev-v1-website`. */
  readonly path?: string
  /**
   * What becomes of a request when the webhook can not be asked or its handler fails: refused, or let through. There
   * is no default: `Fail` makes this server one that others can not do without, `Ignore` makes its checks optional.
   */
  readonly failurePolicy: 'Fail' | 'Ignore'
  /** `Equivalent` also sends requests made through other versions of the kind, converted. Default `Equivalent`. */
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  /** `NoneOnDryRun` for a handler that leaves traces elsewhere, unless `dryRun`. Default `None`. */
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

/** A new object, operations on the old one, or a result. The object that came in is frozen: return another. */
export type Mutation<T extends KubeObject> = T | readonly JsonPatchOperation[] | AdmissionResult<T>

export interface MutatingDefinition<T extends KubeObject> extends WebhookDefinition<T> {
  /** `IfNeeded`: called again if a later webhook changed the object. Default `Never`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  readonly mutate: (request: AdmissionRequest<T>, context: AdmissionContext) => Mutation<T> | Promise<Mutation<T>>
}

/** A declared webhook: what its configuration says, and its handler. Made by `validating` and `mutating`. */
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

/** A webhook that says yes or no. */
export function validating<T extends KubeObject>(definition: ValidatingDefinition<T>): Webhook {
  const { validate } = definition
  return {
    ...common(definition, 'validating'),
    reinvocationPolicy: 'Never',
    // The rules make sure that it is a T, and the one place to say so is here.
    admit: async (request, context) => validate(request as AdmissionRequest<T>, context),
  }
}

/** A webhook that may change the object; the runtime works out the patch. */
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
  return new TenureError('TENURE_WEBHOOK_DEFINITION', `Webhook "${name}" can not be declared: ${why}.`)
}
