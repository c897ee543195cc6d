/** Names of resources in requests, limits and quotas. */
import { qualifiedName } from '@tenure/kube/model'

import { invalidEach, invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'

const CONTAINER_RESOURCES = ['cpu', 'memory', 'ephemeral-storage']
const COUNTED_RESOURCES = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const QUOTA_RESOURCES = new Set([
  ...CONTAINER_RESOURCES,
  ...CONTAINER_RESOURCES.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...COUNTED_RESOURCES,
  'requests.storage',
])
const STANDARD_RESOURCES = new Set([...QUOTA_RESOURCES, 'storage'])

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
export const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith('requests.')
export const isOvercommittable = (name: string): boolean => isNative(name) && !isHugePages(name)
/** Returns whether the resource is a count, so that its quantity must be an integer. */
export const isCounted = (name: string): boolean => COUNTED_RESOURCES.includes(name) || isExtended(name)

const isContainerResource = (name: string): boolean => CONTAINER_RESOURCES.includes(name) || isHugePages(name)
export const isQuotaResource = (name: string): boolean =>
  QUOTA_RESOURCES.has(name) || isHugePages(name.startsWith('requests.') ? name.slice('requests.'.length) : name)

export function validateResourceName(name: string, field: string): FieldError[] {
  const errors = invalidEach(field, name, qualifiedName(name))
  if (errors.length > 0 || name.includes('/') || STANDARD_RESOURCES.has(name) || isQuotaResource(name)) return errors
  return [invalidValue(field, name, 'must be a standard resource type or fully qualified')]
}

export function validateContainerResourceName(name: string, field: string): FieldError[] {
  const errors = validateResourceName(name, field)
  if (name.includes('/') || isContainerResource(name)) return errors
  return [...errors, invalidValue(field, name, 'must be a standard resource for containers')]
}

export function validateQuotaResourceName(name: string, field: string): FieldError[] {
  const errors = validateResourceName(name, field)
  if (name.includes('/') || isQuotaResource(name)) return errors
  return [...errors, invalidValue(field, name, 'must be a standard resource for quota')]
}
