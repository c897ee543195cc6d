import { isJsonObject, isSameQuantity } from '@tenure/kube/model'

/**
 * Compares a value applied to a built-in kind with the value that the server stores: quantities may be written
 * differently, and the server fills in defaults inside values that are owned as a whole. Only common cases are covered;
 * an unknown one costs an apply that changes nothing.
 */
export function isServerEqual(desired: unknown, live: unknown, key: string, parent = ''): boolean {
  if (desired === live) return true
  if (Array.isArray(desired)) {
    return (
      Array.isArray(live) &&
      desired.length === live.length &&
      desired.every((item, index) => isServerEqual(item, live[index], key, parent))
    )
  }
  if (isJsonObject(desired)) return isJsonObject(live) && isServerMap(desired, live, key)
  return isQuantityPlace(key, parent) && isSameQuantity(desired, live)
}

function isServerMap(
  desired: Readonly<Record<string, unknown>>,
  live: Readonly<Record<string, unknown>>,
  parent: string,
): boolean {
  for (const key in desired) {
    if (desired[key] !== undefined && !isServerEqual(desired[key], live[key], key, parent)) return false
  }
  for (const key in live) {
    if (desired[key] === undefined && live[key] !== undefined && !isFilledIn(key, live[key], live)) return false
  }
  return true
}

/** True for a default that the server fills in inside atomic fields. */
function isFilledIn(key: string, value: unknown, siblings: Readonly<Record<string, unknown>>): boolean {
  switch (key) {
    // Ports of network policies.
    case 'protocol':
      return value === 'TCP'
    // References to a pod's own fields, and claim templates.
    case 'apiVersion':
      return value === 'v1' && ('fieldPath' in siblings || siblings['kind'] === 'PersistentVolumeClaim')
    case 'kind':
      return value === 'PersistentVolumeClaim'
    // Older servers, such as 1.30, write the missing creation time of a claim template.
    case 'creationTimestamp':
      return value === null
    case 'volumeMode':
      return value === 'Filesystem'
    case 'status':
      return isJsonObject(value) && value['phase'] === 'Pending' && Object.keys(value).length === 1
    case 'divisor':
      return value === '0'
    // Projected service account tokens.
    case 'expirationSeconds':
      return value === 3600
    default:
      return false
  }
}

const QUANTITY_MAPS = new Set([
  'limits',
  'requests',
  'hard',
  'capacity',
  'default',
  'defaultRequest',
  'min',
  'max',
  'overhead',
])
const QUANTITIES = new Set(['sizeLimit', 'divisor'])

function isQuantityPlace(key: string, parent: string): boolean {
  return QUANTITY_MAPS.has(parent) || QUANTITIES.has(key)
}
