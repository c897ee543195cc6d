import { notFound, StatusError } from '../../errors.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import type { ResourceRoute } from './route.ts'

/** Subresources that need a running container or its network. */
const SUBRESOURCES: Readonly<Record<string, readonly string[]>> = {
  pods: ['exec', 'attach', 'portforward', 'proxy'],
  services: ['proxy'],
  nodes: ['proxy'],
}

/** Explains that simulated containers cannot be entered: a "not found" would mislead the user. */
export function refuseExec(storage: Storage, definition: ResourceDefinition, route: ResourceRoute): void {
  const [wanted = ''] = route.subresource.split('/')
  const { namespace, name = '' } = route
  if (wanted === '' || !(SUBRESOURCES[definition.bucket] ?? []).includes(wanted)) return
  const key = namespace === undefined ? name : `${namespace}/${name}`
  if (!storage.get(definition.bucket, key)) throw notFound(definition, name)
  throw new StatusError(
    501,
    'NotImplemented',
    `${definition.plural} "${name}": ${wanted} is not supported. Nodes are simulated: no container runs.`,
  )
}
