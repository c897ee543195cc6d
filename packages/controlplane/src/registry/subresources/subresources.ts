import type { ResourceDefinition, Subresource } from '../types.ts'

const READ_WRITE = ['get', 'patch', 'update']

/** Subresources that need containers: kube-apiserver lists them, this server does not. */
const UNSERVED = new Set(['attach', 'exec', 'portforward', 'proxy'])

/** The subresources of a resource, sorted by name. */
export function subresourcesOf(definition: ResourceDefinition): readonly Subresource[] {
  const { group, version, kind, subresources } = definition
  if (subresources) return subresources.filter(({ name }) => !UNSERVED.has(name.split('/')[0] ?? ''))
  const found: Subresource[] = []
  if (definition.scale)
    found.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: READ_WRITE })
  if (definition.hasStatus) found.push({ name: 'status', group, version, kind, verbs: READ_WRITE })
  return found
}
