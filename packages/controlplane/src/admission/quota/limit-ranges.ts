import type { KubeObject } from '@tenure/kube'
import { isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import { admissionDenied } from '../../registry/admission-denied.ts'
import type { Admission, AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { Quantity } from '@tenure/kube/model'
import type { Storage } from '../../storage/types.ts'
import { amountsAt, podAmounts, textOf } from './amounts.ts'
import type { Amounts } from './amounts.ts'

const PODS = 'pods'
const CLAIMS = 'persistentvolumeclaims'
const SET_BY = 'kubernetes.io/limit-ranger'
const LISTS = [
  ['initContainers', 'init container'],
  ['containers', 'container'],
] as const

interface Limit extends JsonObject {
  readonly type?: string
}

/** The LimitRanger plugin: sets default requests and limits, and enforces minimum, maximum and ratio. */
export class LimitRanges implements Admission {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  concerns(operation: AdmissionAttributes['operation'], { bucket }: ResourceDefinition, subresource: string): boolean {
    // Without LimitRanges writes skip this plugin.
    if (subresource !== '' || (bucket !== PODS && bucket !== CLAIMS)) return false
    if (this.#storage.count('limitranges') === 0) return false
    return operation === 'CREATE' || (operation === 'UPDATE' && bucket === CLAIMS)
  }

  mutate({ definition, namespace, object }: AdmissionAttributes): Promise<KubeObject | undefined> {
    if (!object || definition.bucket !== PODS) return Promise.resolve(object)
    let next: KubeObject = object
    for (const limits of this.#limitsOf(namespace)) next = withDefaults(next, limits)
    return Promise.resolve(next)
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { definition, namespace, object } = attributes
    if (!object) return
    for (const limits of this.#limitsOf(namespace)) {
      const found = limits.flatMap((limit) =>
        definition.bucket === PODS ? podViolations(object, limit) : claimViolations(object, limit),
      )
      const distinct = [...new Set(found)]
      if (distinct.length === 0) continue
      const why = distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`
      throw admissionDenied(attributes, why)
    }
  }

  #limitsOf(namespace: string | undefined): readonly (readonly Limit[])[] {
    return Array.from(this.#storage.range('limitranges', { namespace }), ({ object }) => {
      const limits = valueAtPath(object, 'spec', 'limits')
      return Array.isArray(limits) ? limits.filter(isJsonObject) : []
    })
  }
}

function withDefaults(pod: KubeObject, limits: readonly Limit[]): KubeObject {
  const spec = valueAtPath(pod, 'spec')
  if (!isJsonObject(spec)) return pod
  const ofContainers = limits.filter(({ type }) => type === 'Container')
  const defaults = {
    limits: Object.assign({}, ...ofContainers.map((limit) => limit['default'] ?? {})) as JsonObject,
    requests: Object.assign({}, ...ofContainers.map((limit) => limit['defaultRequest'] ?? {})) as JsonObject,
  }
  const notes: string[] = []
  const lists = LISTS.flatMap(([list, what]) => {
    const containers = spec[list]
    if (!Array.isArray(containers)) return []
    return [[list, containers.map((container) => filled(container as JsonObject, defaults, what, notes))] as const]
  })
  if (notes.length === 0) return pod
  const annotations = { ...pod.metadata?.annotations, [SET_BY]: `LimitRanger plugin set: ${notes.join('; ')}` }
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...spec, ...Object.fromEntries(lists) },
  } as KubeObject
}

function filled(
  container: JsonObject,
  defaults: Readonly<Record<'limits' | 'requests', JsonObject>>,
  what: string,
  notes: string[],
): JsonObject {
  const resources = isJsonObject(container['resources']) ? container['resources'] : {}
  let next: JsonObject = resources
  for (const kind of ['requests', 'limits'] as const) {
    const own = isJsonObject(resources[kind]) ? resources[kind] : {}
    const missing = Object.keys(defaults[kind]).filter((name) => !Object.hasOwn(own, name))
    if (missing.length === 0) continue
    next = { ...next, [kind]: { ...defaults[kind], ...own } }
    notes.push(`${missing.toSorted().join(', ')} ${kind.slice(0, -1)} for ${what} ${String(container['name'])}`)
  }
  return next === resources ? container : { ...container, resources: next }
}

function podViolations(pod: KubeObject, limit: Limit): readonly string[] {
  if (limit.type === 'Pod') return violations(limit, podAmounts(pod, 'requests'), podAmounts(pod, 'limits'))
  if (limit.type !== 'Container') return []
  return (['containers', 'initContainers'] as const).flatMap((list) => {
    const containers = valueAtPath(pod, 'spec', list)
    if (!Array.isArray(containers)) return []
    return containers.flatMap((container) =>
      violations(limit, amountsAt(container, 'resources', 'requests'), amountsAt(container, 'resources', 'limits')),
    )
  })
}

function claimViolations(claim: KubeObject, limit: Limit): readonly string[] {
  if (limit.type !== 'PersistentVolumeClaim') return []
  const requests = amountsAt(claim, 'spec', 'resources', 'requests')
  const most = [...amountsAt(limit, 'max')].flatMap(([name, max]) => {
    const bound = `maximum ${name} usage per ${limit.type} is ${textOf(max)}`
    const request = requests.get(name)
    if (!request) return [`${bound}.  No request is specified`]
    return request.nanos > max.nanos ? [`${bound}, but request is ${textOf(request)}`] : []
  })
  return [...least(limit, requests, new Map()), ...most]
}

function violations(limit: Limit, requests: Amounts, limits: Amounts): readonly string[] {
  return [...least(limit, requests, limits), ...most(limit, requests, limits), ...ratios(limit, requests, limits)]
}

function least(limit: Limit, requests: Amounts, limits: Amounts): readonly string[] {
  return [...amountsAt(limit, 'min')].flatMap(([name, min]) => {
    const bound = `minimum ${name} usage per ${limit.type} is ${textOf(min)}`
    const request = requests.get(name)
    if (!request) return [`${bound}.  No request is specified`]
    if (request.nanos < min.nanos) return [`${bound}, but request is ${textOf(request)}`]
    const most = limits.get(name)
    return most && most.nanos < min.nanos ? [`${bound}, but limit is ${textOf(most)}`] : []
  })
}

function most(limit: Limit, requests: Amounts, limits: Amounts): readonly string[] {
  return [...amountsAt(limit, 'max')].flatMap(([name, max]) => {
    const bound = `maximum ${name} usage per ${limit.type} is ${textOf(max)}`
    const set = limits.get(name)
    if (!set) return [`${bound}.  No limit is specified`]
    if (set.nanos > max.nanos) return [`${bound}, but limit is ${textOf(set)}`]
    const request = requests.get(name)
    return request && request.nanos > max.nanos ? [`${bound}, but request is ${textOf(request)}`] : []
  })
}

const isNone = (amount: Quantity | undefined): boolean => !amount || amount.nanos === 0n

function ratios(limit: Limit, requests: Amounts, limits: Amounts): readonly string[] {
  return [...amountsAt(limit, 'maxLimitRequestRatio')].flatMap(([name, max]) => {
    const bound = `${name} max limit to request ratio per ${limit.type} is ${textOf(max)}`
    const [request, set] = [requests.get(name), limits.get(name)]
    if (isNone(request)) return [`${bound}, but no request is specified or request is 0`]
    if (isNone(set)) return [`${bound}, but no limit is specified or limit is 0`]
    const ratio = Number(set?.nanos ?? 0n) / Number(request?.nanos ?? 1n)
    return ratio > Number(max.nanos) / 1e9 ? [`${bound}, but provided ratio is ${ratio.toFixed(6)}`] : []
  })
}
