/** Names of what can be requested, limited and counted: CPU, memory, kinds of objects, devices of vendors. */
import type { FieldError } from '../../schema/types.ts'
import { invalidEach, invalidValue } from '../common/field-errors.ts'
import { qualifiedName } from '../common/names.ts'

const OF_CONTAINERS = ['cpu', 'memory', 'ephemeral-storage']
const COUNTED = [
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
const OF_QUOTAS = new Set([
  ...OF_CONTAINERS,
  ...OF_CONTAINERS.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...COUNTED,
  'requests.storage',
])
const STANDARD = new Set([...OF_QUOTAS, 'storage'])

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
export const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith('requests.')
export const isOvercommittable = (name: string): boolean => isNative(name) && !isHugePages(name)
/** What comes in whole pieces only. */
export const isCounted = (name: string): boolean => COUNTED.includes(name) || isExtended(name)

const isOfContainers = (name: string): boolean => OF_CONTAINERS.includes(name) || isHugePages(name)
export const isOfQuotas = (name: string): boolean =>
  OF_QUOTAS.has(name) || isHugePages(name.startsWith('requests.') ? name.slice('requests.'.length) : name)

/** What is wrong with the name of any resource. */
export function validateResourceName(name: string, field: string): FieldError[] {
  const wrong = invalidEach(field, name, qualifiedName(name))
  if (wrong.length > 0 || name.includes('/') || STANDARD.has(name) || isOfQuotas(name)) return wrong
  return [invalidValue(field, name, 'must be a standard resource type or fully qualified')]
}

export function validateContainerResourceName(name: string, field: string): FieldError[] {
  const wrong = validateResourceName(name, field)
  if (name.includes('/') || isOfContainers(name)) return wrong
  return [...wrong, invalidValue(field, name, 'must be a standard resource for containers')]
}

export function validateQuotaResourceName(name: string, field: string): FieldError[] {
  const wrong = validateResourceName(name, field)
  if (name.includes('/') || isOfQuotas(name)) return wrong
  return [...wrong, invalidValue(field, name, 'must be a standard resource for quota')]
}
