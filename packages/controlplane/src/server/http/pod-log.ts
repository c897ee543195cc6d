import { isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import { badRequest, notFound } from '../../errors.ts'
import { valueAt } from '../../registry/dotted-path.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import type { ResourceRoute } from './route.ts'

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const

const objectsAt = (object: unknown, path: string): readonly JsonObject[] => {
  const list = valueAt(object, path)
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/**
 * The log of a container; undefined while its pod has no node. Simulated containers print nothing, and the log says so
 * instead of being empty.
 */
export function podLog(
  storage: Storage,
  definition: ResourceDefinition,
  { namespace = '', name = '' }: ResourceRoute,
  query: string,
): string | undefined {
  const pod = storage.get(definition.bucket, `${namespace}/${name}`)?.object
  if (!pod) throw notFound(definition, name)
  const parameters = new URLSearchParams(query)
  const container = chosen(pod, name, parameters.get('container') ?? '')
  if (!valueAtPath(pod, 'spec', 'nodeName')) return undefined
  const status = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
    .flatMap((list) => objectsAt(pod, `status.${list}`))
    .find((one) => one['name'] === container['name'])
  const waiting = status ? valueAtPath(status, 'state', 'waiting', 'reason') : 'ContainerCreating'
  if (typeof waiting === 'string') {
    throw badRequest(`container "${String(container['name'])}" in pod "${name}" is waiting to start: ${waiting}`)
  }
  const started =
    valueAtPath(status, 'state', 'running', 'startedAt') ?? valueAtPath(status, 'state', 'terminated', 'startedAt')
  const since = typeof started === 'string' ? ` since ${started}` : ''
  const stamp = parameters.get('timestamps') === 'true' && typeof started === 'string' ? `${started} ` : ''
  if (parameters.get('tailLines') === '0') return ''
  return `${stamp}This container is simulated${since}: ${String(container['image'])} does not run, and prints nothing.\n`
}

const names = (list: readonly JsonObject[]): string => list.map((one) => String(one['name'])).join(' ')

/** The requested container; without a name the only one, or the one that an annotation names. */
function chosen(pod: { readonly metadata: object }, name: string, asked: string): JsonObject {
  const containers = objectsAt(pod, 'spec.containers')
  const wanted = asked || defaultContainer(pod)
  const all = LISTS.flatMap((list) => objectsAt(pod, `spec.${list}`))
  if (!wanted) {
    const [only] = containers
    if (only && all.length === 1) return only
    const inits = objectsAt(pod, 'spec.initContainers')
    const more = inits.length > 0 ? ` or one of the init containers: [${names(inits)}]` : ''
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names(containers)}]${more}`)
  }
  const found = all.find((one) => one['name'] === wanted)
  if (!found) throw badRequest(`container ${wanted} is not valid for pod ${name}`)
  return found
}

function defaultContainer({ metadata }: { readonly metadata: object }): string {
  const { annotations } = metadata as { readonly annotations?: Readonly<Record<string, string>> }
  return annotations?.['kubectl.kubernetes.io/default-container'] ?? ''
}
