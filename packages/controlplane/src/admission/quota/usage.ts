import { isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import { qosClass } from '../../kinds/core/pod/pod.ts'
import { amountsAt, podAmounts, sum, whole } from './amounts.ts'
import type { Amounts } from './amounts.ts'

export const PODS = 'pods'
export const SERVICES = 'services'
export const CLAIMS = 'persistentvolumeclaims'

/** Resources that count objects of a kind without the prefix `count/`. */
const ALIASES = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])
const COMPUTED = ['cpu', 'memory', 'ephemeral-storage']
/** If a quota limits one of these, every container must specify it. */
const MANDATORY = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

/** `now` is in milliseconds: a pod whose grace period is over does not count. */
export function usageOf(bucket: string, object: unknown, now: number): Amounts {
  const counted: Amounts = new Map([[`count/${bucket}`, whole(1)]])
  switch (bucket) {
    case PODS:
      return isCounted(object, now) ? sum(counted, computeUsage(object)) : counted
    case SERVICES:
      return sum(counted, serviceUsage(object))
    case CLAIMS:
      return sum(counted, claimUsage(object))
    default:
      return ALIASES.has(bucket) ? sum(counted, new Map([[bucket, whole(1)]])) : counted
  }
}

/** True if objects of this kind count for the resource. */
export function isUsedBy(bucket: string, resource: string): boolean {
  if (resource === `count/${bucket}`) return true
  switch (bucket) {
    case PODS:
      if (resource === PODS || COMPUTED.includes(resource)) return true
      return /^(?:requests|limits)\./.test(resource) && resource !== 'requests.storage'
    case SERVICES:
      return resource === SERVICES || resource.startsWith('services.')
    case CLAIMS:
      return (
        resource === CLAIMS || resource === 'requests.storage' || resource.includes('.storageclass.storage.k8s.io/')
      )
    default:
      return ALIASES.has(bucket) && resource === bucket
  }
}

/** The kind that a resource of a quota counts. */
export function bucketOf(resource: string): string {
  if (resource.startsWith('count/')) return resource.slice('count/'.length)
  if (ALIASES.has(resource)) return resource
  return [SERVICES, CLAIMS].find((bucket) => isUsedBy(bucket, resource)) ?? PODS
}

function isCounted(pod: unknown, now: number): boolean {
  const phase = valueAtPath(pod, 'status', 'phase')
  if (phase === 'Failed' || phase === 'Succeeded') return false
  const [deleted, grace] = [
    valueAtPath(pod, 'metadata', 'deletionTimestamp'),
    valueAtPath(pod, 'metadata', 'deletionGracePeriodSeconds'),
  ]
  if (typeof deleted !== 'string' || typeof grace !== 'number') return true
  return now <= Date.parse(deleted) + grace * 1000
}

function computeUsage(pod: unknown): Amounts {
  return computed(podAmounts(pod, 'requests'), podAmounts(pod, 'limits'))
}

function computed(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([[PODS, whole(1)]])
  for (const [name, amount] of requests) {
    const isHugePages = name.startsWith('hugepages-')
    if (COMPUTED.includes(name) || isHugePages) usage.set(name, amount)
    if (COMPUTED.includes(name) || isHugePages || name.includes('/')) usage.set(`requests.${name}`, amount)
  }
  for (const [name, amount] of limits) if (COMPUTED.includes(name)) usage.set(`limits.${name}`, amount)
  return usage
}

function serviceUsage(service: unknown): Amounts {
  const ports = valueAtPath(service, 'spec', 'ports')
  const all = Array.isArray(ports) ? ports.filter(isJsonObject) : []
  const type = valueAtPath(service, 'spec', 'type')
  const isLoadBalancer = type === 'LoadBalancer'
  const hasNoNodePorts = isLoadBalancer && valueAtPath(service, 'spec', 'allocateLoadBalancerNodePorts') === false
  const open = hasNoNodePorts
    ? all.filter((port) => port['nodePort'])
    : type === 'NodePort' || isLoadBalancer
      ? all
      : []
  return new Map([
    [SERVICES, whole(1)],
    ['services.loadbalancers', whole(isLoadBalancer ? 1 : 0)],
    ['services.nodeports', whole(open.length)],
  ])
}

function claimUsage(claim: unknown): Amounts {
  const usage = new Map([[CLAIMS, whole(1)]])
  const storage = amountsAt(claim, 'spec', 'resources', 'requests').get('storage')
  if (storage) usage.set('requests.storage', storage)
  const name = valueAtPath(claim, 'spec', 'storageClassName')
  if (typeof name === 'string' && name !== '') {
    const of = `${name}.storageclass.storage.k8s.io`
    usage.set(`${of}/${CLAIMS}`, whole(1))
    if (storage) usage.set(`${of}/requests.storage`, storage)
  }
  return usage
}

/** The message for containers that do not specify what a quota of these resources requires; undefined if all do. */
export function missingResources(pod: unknown, resources: Iterable<string>): string | undefined {
  const wanted = [...resources].filter((name) => MANDATORY.has(name)).toSorted()
  const missing = wanted.flatMap((resource) => {
    const unspecified = containersOf(pod)
      .filter((container) => {
        const amounts = computed(
          amountsAt(container, 'resources', 'requests'),
          amountsAt(container, 'resources', 'limits'),
        )
        return !amounts.has(resource)
      })
      .map((container) => String(container['name']))
    return unspecified.length > 0 ? [`${resource} for: ${[...new Set(unspecified)].toSorted().join(',')}`] : []
  })
  return missing.length > 0 ? `must specify ${missing.join('; ')}` : undefined
}

function containersOf(pod: unknown): readonly JsonObject[] {
  return ['containers', 'initContainers'].flatMap((list) => {
    const containers = valueAtPath(pod, 'spec', list)
    return Array.isArray(containers) ? containers.filter(isJsonObject) : []
  })
}

interface Scope {
  readonly scopeName: string
  readonly operator: string
  readonly values: readonly unknown[]
}

/** True if the quota applies to the object. Quotas with scopes apply to the pods that match all of them. */
export function isInScope(quota: unknown, bucket: string, object: unknown): boolean {
  return scopesOf(quota).every((scope) => bucket === PODS && isPodInScope(scope, object))
}

function scopesOf(quota: unknown): readonly Scope[] {
  const [names, expressions] = [
    valueAtPath(quota, 'spec', 'scopes'),
    valueAtPath(quota, 'spec', 'scopeSelector', 'matchExpressions'),
  ]
  const plain = (Array.isArray(names) ? names : []).map((name) => ({
    scopeName: String(name),
    operator: 'Exists',
    values: [],
  }))
  const selected = (Array.isArray(expressions) ? expressions.filter(isJsonObject) : []).map(
    ({ scopeName, operator, values }) => ({
      scopeName: String(scopeName),
      operator: String(operator),
      values: Array.isArray(values) ? values : [],
    }),
  )
  return [...plain, ...selected]
}

function isPodInScope({ scopeName, operator, values }: Scope, pod: unknown): boolean {
  switch (scopeName) {
    case 'Terminating':
      return hasDeadline(pod)
    case 'NotTerminating':
      return !hasDeadline(pod)
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass': {
      const name = valueAtPath(pod, 'spec', 'priorityClassName')
      const isNamed = typeof name === 'string' && name !== ''
      if (operator === 'Exists') return isNamed
      if (operator === 'DoesNotExist') return !isNamed
      return values.includes(name) === (operator === 'In')
    }
    default:
      return false
  }
}

const hasDeadline = (pod: unknown): boolean => typeof valueAtPath(pod, 'spec', 'activeDeadlineSeconds') === 'number'
const isBestEffort = (pod: unknown): boolean => qosClass(isJsonObject(pod) ? pod : {}) === 'BestEffort'
