import { isDeepEqual, isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import type { KubeObject, LabelSelector, Stored } from '@tenure/kube'
import { LabelMatcher } from '@tenure/kube'
import { badRequest, conflict, notFound, StatusError } from '../../errors.ts'
import { resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import type { StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { remove } from '../verbs/delete.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { apiVersionOf, checkKind, report, undecodable } from '../decode/decode.ts'
import type { KindNames } from '../decode/decode.ts'
import { readDeleteOptions } from '../options/delete-options.ts'
import { timestamp } from '../metadata/metadata.ts'
import { find, keyFor } from '../verbs/read.ts'
import type { RequestOptions, ResourceResponse, ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'
import { isDryRun } from '../verbs/write.ts'

const SUCCESS: Extract<ResourceResponse, { type: 'object' }> = {
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

/** A kind that is only sent, never stored. */
interface SentKind extends KindNames {
  readonly schema: string
}

const EVICTION: SentKind = { group: 'policy', version: 'v1', kind: 'Eviction', schema: 'io.k8s.api.policy.v1.Eviction' }
const BINDING: SentKind = { group: '', version: 'v1', kind: 'Binding', schema: 'io.k8s.api.core.v1.Binding' }

/** Decodes an eviction or a binding. Throws a 400 if the body is neither. */
function decodeSent(
  context: RegistryContext,
  request: ResourceRequest,
  sent: SentKind,
  warn: (warning: string) => void,
): JsonObject {
  const { body, name = '' } = request
  if (!isJsonObject(body)) throw badRequest(`the object provided is unrecognized (must be of type ${sent.kind})`)
  try {
    // The first version of evictions is still accepted; its fields are the same.
    const isFormer = body['kind'] === EVICTION.kind && body['apiVersion'] === 'policy/v1beta1'
    checkKind(context, sent, isFormer ? { ...body, apiVersion: 'policy/v1' } : body)
    const { object, error, unknown } = decodeBuiltIn(resolveBuiltIn(sent.schema), resolveBuiltIn, body)
    if (error !== undefined) throw new DecodeError(error)
    report(request, unknown, warn)
    const decoded = object as JsonObject
    if (valueAtPath(decoded, 'metadata', 'name') === name) return decoded
  } catch (error) {
    throw error instanceof DecodeError ? undecodable(sent, body, error) : error
  }
  throw badRequest(`name in URL does not match name in ${sent.kind} object`)
}

/** Runs admission on an eviction or a binding. */
async function admitted(
  context: RegistryContext,
  request: ResourceRequest,
  sent: SentKind,
  warn: (warning: string) => void,
): Promise<JsonObject> {
  const { admission } = context
  const { definition, subresource, namespace, name = '', user, options } = request
  const body = decodeSent(context, request, sent, warn)
  if (!admission || !(admission.concerns?.('CREATE', definition, subresource) ?? true)) return body
  const metadata = { ...(isJsonObject(body['metadata']) ? body['metadata'] : {}), ...(namespace && { namespace }) }
  const attributes = {
    operation: 'CREATE',
    definition,
    subresource,
    namespace,
    name,
    object: { ...body, apiVersion: apiVersionOf(sent), kind: sent.kind, metadata } as KubeObject,
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
  return (object ?? attributes.object) as KubeObject & JsonObject
}

/** Deletes a pod if its disruption budget allows. */
export async function evict(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  const warnings: string[] = []
  const warn = (warning: string): void => void warnings.push(warning)
  const body = await admitted(context, request, EVICTION, warn)
  const pod = find(context, request)
  const options = evictionOptions(request, body['deleteOptions'])
  const deletion: ResourceRequest = { ...request, verb: 'delete', subresource: '', body: undefined, options }
  const phase = valueAtPath(pod.object, 'status', 'phase')
  const isFree =
    phase === 'Succeeded' ||
    phase === 'Failed' ||
    phase === 'Pending' ||
    pod.object.metadata.deletionTimestamp !== undefined
  if (!isFree) await takeFromBudget(context, deletion, pod)
  // The eviction itself was admitted; its delete is not admitted again.
  await remove({ ...context, admission: undefined }, deletion)
  return { ...SUCCESS, warnings }
}

/** A dry run may be requested in the query or in the eviction, but they must not disagree. */
function evictionOptions({ options }: ResourceRequest, sent: unknown): RequestOptions {
  if (!isJsonObject(sent)) return options
  const deletion = readDeleteOptions(sent)
  const asked = options.dryRun ?? []
  const said = deletion.dryRun ?? []
  if (asked.length > 0 && said.length > 0 && !isDeepEqual(asked, said)) {
    throw badRequest(
      `Non-matching dry-run options in request and content: [${asked.join(' ')}] and [${said.join(' ')}]`,
    )
  }
  return { ...deletion, dryRun: said.length > 0 ? said : asked }
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

/** A budget that was deleted meanwhile does not limit evictions. */
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

/** Assigns a pod to a node, as a scheduler does. */
export async function bind(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  const { storage, clock } = context
  const { definition, namespace, name = '' } = request
  const warnings: string[] = []
  const warn = (warning: string): void => void warnings.push(warning)
  const body = await admitted(context, request, BINDING, warn)
  checkBinding(body)
  const node = valueAtPath(body, 'target', 'name')
  await storage.write(definition.bucket, keyFor(namespace, name), (current) => {
    if (!current) throw notFound(definition, name)
    const { metadata } = current.object
    checkSeen(definition, body, current.object, current.key)
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
    const assigned = valueAtPath(spec, 'nodeName')
    if (typeof assigned === 'string' && assigned !== '') {
      throw conflict(
        { ...definition, plural: 'pods/binding' },
        name,
        `pod ${name} is already assigned to node "${assigned}"`,
      )
    }
    if (isDryRun(request)) return { keep: true }
    const annotations = {
      ...metadata.annotations,
      ...(valueAtPath(body, 'metadata', 'annotations') as object | undefined),
    }
    const scheduled = {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock.now()),
    }
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

/** A binding sent to the namespace that names its pod itself: the older way to bind. */
export function bindNamed(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  const { group, version } = request.definition
  const pods = context.catalog.find(group, version, 'pods')
  if (!pods) throw notFound(request.definition, '')
  const name = valueAtPath(request.body, 'metadata', 'name')
  return bind(context, {
    ...request,
    definition: pods,
    subresource: 'binding',
    name: typeof name === 'string' ? name : '',
  })
}

function checkBinding(body: JsonObject): void {
  const kind = valueAtPath(body, 'target', 'kind')
  const wrong = [
    ...(kind && kind !== 'Node'
      ? [`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`]
      : []),
    ...(valueAtPath(body, 'target', 'name') ? [] : ['target.name: Required value']),
  ]
  if (wrong.length > 0) throw new StatusError(500, '', wrong.length === 1 ? (wrong[0] ?? '') : `[${wrong.join(', ')}]`)
}

/** A scheduler may name the pod's uid and resourceVersion: another pod of the same name is not bound. */
function checkSeen(definition: ResourceDefinition, body: JsonObject, pod: Stored<KubeObject>, key: string): void {
  const { uid, resourceVersion, name } = pod.metadata
  const failed = (what: string, said: unknown, is: string): StatusError =>
    conflict(
      definition,
      name,
      `StorageError: invalid object, Code: 4, Key: /registry/pods/${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${String(said)}, ${what} in object meta: ${is}`,
    )
  const saidUid = valueAtPath(body, 'metadata', 'uid')
  if (saidUid && saidUid !== uid) throw failed('UID', saidUid, uid)
  const saidVersion = valueAtPath(body, 'metadata', 'resourceVersion')
  if (saidVersion && saidVersion !== resourceVersion) throw failed('ResourceVersion', saidVersion, resourceVersion)
}
