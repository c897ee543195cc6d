import {
  formatQuantity,
  isJsonObject,
  type JsonObject,
  parseQuantity,
  type Quantity,
  QuantityError,
  valueAtPath,
} from '@tenure/kube/model'

/** Amounts of resources, by name: `requests.cpu`, `pods`, `count/jobs.batch`. */
export type Amounts = ReadonlyMap<string, Quantity>

const ZERO: Quantity = { nanos: 0n, format: 'DecimalSI' }

export const whole = (count: number): Quantity => ({ nanos: BigInt(count) * 1_000_000_000n, format: 'DecimalSI' })

/** Reads a resource list. Invalid quantities are skipped: validation has already refused them. */
export function amountsAt(object: unknown, ...path: readonly string[]): Amounts {
  const list = valueAtPath(object, ...path)
  return amountsOf(isJsonObject(list) ? list : {})
}

export function amountsOf(list: JsonObject): Amounts {
  const found = new Map<string, Quantity>()
  for (const [name, text] of Object.entries(list)) {
    try {
      found.set(name, parseQuantity(String(text)))
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error
    }
  }
  return found
}

function sumOf(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format }
}

export function sum(...all: readonly Amounts[]): Amounts {
  const total = new Map<string, Quantity>()
  for (const amounts of all) {
    for (const [name, amount] of amounts) total.set(name, sumOf(total.get(name) ?? ZERO, amount))
  }
  return total
}

/** The maximum per resource. */
export function largest(a: Amounts, b: Amounts): Amounts {
  const result = new Map(a)
  for (const [name, amount] of b) {
    const known = result.get(name)
    if (!known || known.nanos < amount.nanos) result.set(name, amount)
  }
  return result
}

/** The positive differences `a - b`. */
export function excess(a: Amounts, b: Amounts): Amounts {
  const result = new Map<string, Quantity>()
  for (const [name, amount] of a) {
    const nanos = amount.nanos - (b.get(name)?.nanos ?? 0n)
    if (nanos > 0n) result.set(name, { nanos, format: amount.format })
  }
  return result
}

export function only(amounts: Amounts, names: Iterable<string>): Amounts {
  const wanted = new Set(names)
  return new Map([...amounts].filter(([name]) => wanted.has(name)))
}

export const textOf = (amount: Quantity | undefined): string => formatQuantity(amount ?? ZERO)

/** A resource list sorted by name. */
export function asObject(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...amounts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, textOf(amount)]),
  )
}

/** `cpu=500m,pods=1`. */
export function shown(amounts: Amounts): string {
  return Object.entries(asObject(amounts))
    .map(([name, text]) => `${name}=${text}`)
    .join(',')
}

/** The effective amount of a pod: init containers run before the other containers, sidecars run beside them. */
export function podAmounts(pod: unknown, kind: 'requests' | 'limits'): Amounts {
  const containersIn = (field: string): readonly JsonObject[] => {
    const list = valueAtPath(pod, 'spec', field)
    return Array.isArray(list) ? list.filter(isJsonObject) : []
  }
  let total = sum(...containersIn('containers').map((container) => amountsAt(container, 'resources', kind)))
  let sidecars: Amounts = new Map()
  let first: Amounts = new Map()
  for (const container of containersIn('initContainers')) {
    const own = amountsAt(container, 'resources', kind)
    if (container['restartPolicy'] === 'Always') {
      sidecars = sum(sidecars, own)
      first = largest(first, sidecars)
    } else first = largest(first, sum(sidecars, own))
  }
  total = largest(sum(total, sidecars), first)
  const overhead = amountsAt(pod, 'spec', 'overhead')
  if (overhead.size === 0) return total
  // Overhead does not add a limit that no container sets.
  return kind === 'requests' ? sum(total, overhead) : sum(total, only(overhead, total.keys()))
}
