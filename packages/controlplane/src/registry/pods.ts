import type { KubeObject, LabelSelector } from '@tenure/kube'
import { LabelMatcher } from '@tenure/kube'
import { badRequest, conflict, notFound, StatusError } from '../errors.ts'
import type { StoredObject } from '../storage/types.ts'
import type { RegistryContext } from './context.ts'
import { remove } from './deletion.ts'
import { isObject, valueAt } from './json.ts'
import { timestamp } from './metadata.ts'
import { find, keyFor } from './read.ts'
import type { RequestOptions, ResourceAnswer, ResourceRequest } from './request.ts'
import { isDryRun } from './writer.ts'

const SUCCESS: Extract<ResourceAnswer, { type: 'object' }> = {
  type: 'object',
  status: 201,
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as KubeObject,
  warnings: [],
}

interface Budget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector }
  readonly status?: {
    readonly disruptionsAllowed?: number
    readonly desiredHealthy?: number
    readonly currentHealthy?: number
    readonly disruptedPods?: Readonly<Record<string, string>>
  }
}

function checkBody({ body, name = '' }: ResourceRequest, kind: string): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  if (valueAt(body, 'metadata.name') !== name) throw badRequest(`name in URL does not match name in ${kind} object`)
  return body
}

/** What admission makes of what is sent to a pod: its eviction or its binding. */
async function admitted(
  { admission }: RegistryContext,
  request: ResourceRequest,
  type: { readonly apiVersion: string; readonly kind: string },
  warn: (warning: string) => void,
): Promise<Readonly<Record<string, unknown>>> {
  const { definition, subresource, namespace, name = '', user, options } = request
  const body = checkBody(request, type.kind)
  if (!admission || !(admission.concerns?.('CREATE', definition, subresource) ?? true)) return body
  const metadata = { ...(isObject(body['metadata']) ? body['metadata'] : {}), ...(namespace && { namespace }) }
  const attributes = {
    operation: 'CREATE',
    definition,
    subresource,
    namespace,
    name,
    object: { ...body, ...type, metadata } as KubeObject,
    oldObject: undefined,
    options: {
      kind: 'CreateOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...(isDryRun(request) && { dryRun: ['All'] }),
      ...(options.fieldManager && { fieldManager: options.fieldManager }),
    },
    user,
    dryRun: isDryRun(request),
  } as const
  const object = await admission.mutate(attributes, warn)
  await admission.validate({ ...attributes, object }, warn)
  return (object ?? attributes.object) as KubeObject & Readonly<Record<string, unknown>>
}

/** Deletes a pod if its disruption budget allows. */
export async function evict(context: RegistryContext, request: ResourceRequest): Promise<ResourceAnswer> {
  const warnings: string[] = []
  const warn = (warning: string): void => void warnings.push(warning)
  const body = await admitted(context, request, { apiVersion: 'policy/v1', kind: 'Eviction' }, warn)
  const pod = find(context, request)
  const options = {
    ...request.options,
    ...(isObject(body['deleteOptions']) ? (body['deleteOptions'] as RequestOptions) : {}),
  }
  const deletion: ResourceRequest = { ...request, verb: 'delete', subresource: '', body: undefined, options }
  const phase = valueAt(pod.object, 'status.phase')
  const isFree =
    phase === 'Succeeded' ||
    phase === 'Failed' ||
    phase === 'Pending' ||
    pod.object.metadata.deletionTimestamp !== undefined
  if (!isFree) await takeFromBudget(context, request, pod)
  // The eviction was admitted; that it deletes is its own affair.
  await remove({ ...context, admission: undefined }, deletion)
  return { ...SUCCESS, warnings }
}

async function takeFromBudget(context: RegistryContext, request: ResourceRequest, pod: StoredObject): Promise<void> {
  const { storage, clock } = context
  const { namespace, name = '' } = request
  const bucket = 'poddisruptionbudgets.policy'
  const budgets = [...storage.range(bucket, { namespace })].filter(({ object }) => {
    const selector = (object as Budget).spec?.selector
    return selector !== undefined && LabelMatcher.from(selector).matches(pod.object.metadata.labels)
  })
  const [budget, second] = budgets
  if (!budget) return
  if (second) {
    throw new StatusError(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const taken = storage.write(bucket, budget.key, (current) => {
    if (!current) throw new BudgetGone()
    const { status = {} } = current.object as Budget
    const allowed = status.disruptionsAllowed ?? 0
    if (allowed <= 0) throw violates(budget.object.metadata.name, status)
    if (isDryRun(request)) return { keep: true }
    const disruptedPods = { ...status.disruptedPods, [name]: timestamp(clock.now()) }
    return {
      put: { ...current.object, status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods } } as KubeObject,
    }
  })
  await taken.catch(ignoreGone)
}

/** A budget that was deleted meanwhile limits nothing. */
class BudgetGone extends Error {}

function ignoreGone(error: unknown): void {
  if (!(error instanceof BudgetGone)) throw error
}

function violates(
  budget: string,
  { desiredHealthy = 0, currentHealthy = 0 }: NonNullable<Budget['status']>,
): StatusError {
  const message = `The disruption budget ${budget} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
  })
}

interface Condition {
  readonly type: string
}

/** Puts a pod on a node: what a scheduler does. */
export async function bind(context: RegistryContext, request: ResourceRequest): Promise<ResourceAnswer> {
  const { storage, clock } = context
  const { definition, namespace, name = '' } = request
  const warnings: string[] = []
  const warn = (warning: string): void => void warnings.push(warning)
  const body = await admitted(context, request, { apiVersion: 'v1', kind: 'Binding' }, warn)
  const node = valueAt(body, 'target.name')
  if (typeof node !== 'string' || node === '') {
    throw new StatusError(422, 'Invalid', `Binding "${name}" is invalid: target.name: Required value`, {
      name,
      kind: 'Binding',
      causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'target.name' }],
    })
  }
  await storage.write(definition.bucket, keyFor(namespace, name), (current) => {
    if (!current) throw notFound(definition, name)
    const { metadata } = current.object
    if (metadata.deletionTimestamp !== undefined) {
      throw conflict(
        { ...definition, plural: 'pods/binding' },
        name,
        `pod ${name} is being deleted, cannot be assigned to a host`,
      )
    }
    const { spec, status } = current.object as {
      readonly spec?: object
      readonly status?: { readonly conditions?: readonly Condition[] }
    }
    const assigned = valueAt(spec, 'nodeName')
    if (typeof assigned === 'string' && assigned !== '') {
      throw conflict(
        { ...definition, plural: 'pods/binding' },
        name,
        `pod ${name} is already assigned to node "${assigned}"`,
      )
    }
    if (isDryRun(request)) return { keep: true }
    const annotations = { ...metadata.annotations, ...(valueAt(body, 'metadata.annotations') as object | undefined) }
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(clock.now()) }
    const others = (status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
    return {
      put: {
        ...current.object,
        metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata,
        spec: { ...spec, nodeName: node },
        status: { ...status, conditions: [...others, scheduled] },
      } as KubeObject,
    }
  })
  return { ...SUCCESS, warnings }
}
