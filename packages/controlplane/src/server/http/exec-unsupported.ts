import { notFound, StatusError } from '../../errors.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import type { ResourceRoute } from './route.ts'

/** What would reach into a container, or through the network to one. */
const SUBRESOURCES: Readonly<Record<string, readonly string[]>> = {
  pods: ['exec', 'attach', 'portforward', 'proxy'],
  services: ['proxy'],
  nodes: ['proxy'],
}

/** Says why there is no way into a container, to whom asks for one: "not found" would send them looking. */
export function refuseWayIn(storage: Storage, definition: ResourceDefinition, route: ResourceRoute): void {
  const [wanted = ''] = route.subresource.split('/')
  const { namespace, name = '' } = route
  if (wanted === '' || !(SUBRESOURCES[definition.bucket] ?? []).includes(wanted)) return
  const key = namespace === undefined ? name : `${namespace}/${name}`
  if (!storage.get(definition.bucket, key)) throw notFound(definition, name)
  throw new StatusError(
    501,
    'NotImplemented',
    `${definition.plural} "${name}": there is no ${wanted} here. Nodes are simulated: no container runs, and nothing listens in one.`,
  )
}
