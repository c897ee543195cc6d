import { isMap } from './json.ts'

/**
 * Equality of a value as it was applied to a built-in kind and as the server then has it: quantities may be written
 * another way, and inside of what is owned whole the server fills in what was left to it. It knows the common cases;
 * one it does not know costs an apply that changes nothing.
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
  if (isMap(desired)) return isMap(live) && isServerMap(desired, live, key)
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

/** What a server puts where nothing was said, inside of atomic fields. Left out, it comes back just so. */
function isFilledIn(key: string, value: unknown, around: Readonly<Record<string, unknown>>): boolean {
  switch (key) {
    // Ports of network policies.
    case 'protocol':
      return value === 'TCP'
    // References to a pod's own fields, and claim templates.
    case 'apiVersion':
      return value === 'v1' && ('fieldPath' in around || around['kind'] === 'PersistentVolumeClaim')
    case 'kind':
      return value === 'PersistentVolumeClaim'
    case 'volumeMode':
      return value === 'Filesystem'
    case 'status':
      return isMap(value) && value['phase'] === 'Pending' && Object.keys(value).length === 1
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

const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?$/
const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

function isSameQuantity(a: unknown, b: unknown): boolean {
  const first = quantity(a)
  const second = quantity(b)
  // Steps of a quantity are at least a thousandth part of a thousandth; rounding of the factors is far below.
  return (
    first !== undefined && second !== undefined && Math.abs(first - second) <= Math.max(Math.abs(first), 1e-9) * 1e-12
  )
}

function quantity(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  const [, mantissa, exponent = '', suffix = ''] = QUANTITY.exec(value) ?? []
  return mantissa === undefined ? undefined : Number(mantissa + exponent) * (FACTORS[suffix] ?? 1)
}
