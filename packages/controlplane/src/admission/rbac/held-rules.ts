import type { StoredPolicyRule } from '../../rbac/policy-rule.ts'

/** Values of one part of a rule (its verbs, say) that the same held rules grant. */
export interface ValueClass {
  readonly granted: bigint
  /** In the order of the rule. Undefined stands for all objects, where others are names. */
  readonly values: readonly (string | undefined)[]
}

/** Held rules, one bit each. Equal sets are one object, so that values are classified by identity. */
interface RuleSet {
  readonly bits: bigint
}

/** Beyond these limits, held rules are not considered: the user is asked to hold less specific ones. */
const MAX_HELD_RULES = 2048
const MAX_HELD_VALUES = 100_000

/** The rules of a user, indexed so that a value is compared with all of them at once. */
export class HeldRules {
  /** Every held rule. */
  readonly all: bigint
  readonly #sets = new Map<string, RuleSet>()
  readonly #unions = new Map<RuleSet, Map<RuleSet, RuleSet>>()
  readonly #verbs = new RuleIndex(this.#sets)
  readonly #groups = new RuleIndex(this.#sets)
  readonly #resources = new RuleIndex(this.#sets)
  readonly #names = new RuleIndex(this.#sets)
  readonly #paths = new RuleIndex(this.#sets)
  /** Paths that end with `*`, without it. */
  readonly #prefixes = new RuleIndex(this.#sets)
  readonly #prefixLengths = new Set<number>()

  constructor(rules: readonly StoredPolicyRule[]) {
    const considered = mostGeneral(rules)
    this.all = (1n << BigInt(considered.length)) - 1n
    for (const [index, rule] of considered.entries()) {
      const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
      this.#verbs.add(index, verbs, verbs.includes('*'))
      this.#groups.add(index, apiGroups, apiGroups.includes('*'))
      this.#resources.add(index, resources, resources.includes('*'))
      this.#names.add(index, resourceNames, resourceNames.length === 0)
      this.#paths.add(index, nonResourceURLs, false)
      const prefixes = nonResourceURLs.filter((path) => path.endsWith('*')).map((path) => path.replace(/\*+$/, ''))
      this.#prefixes.add(index, prefixes, false)
      for (const { length } of prefixes) this.#prefixLengths.add(length)
    }
  }

  verbs({ verbs = [] }: StoredPolicyRule): readonly ValueClass[] {
    return classesOf(verbs, (verb) => this.#verbs.of(verb))
  }

  /** API groups, resources and names of a rule. */
  resources(rule: StoredPolicyRule): readonly (readonly ValueClass[])[] {
    const { apiGroups = [], resources = [], resourceNames = [] } = rule
    return [
      classesOf(apiGroups, (group) => this.#groups.of(group)),
      classesOf(resources, (resource) => {
        const slash = resource.indexOf('/')
        const exact = this.#resources.of(resource)
        return slash < 0 ? exact : this.#union(exact, this.#resources.of(`*${resource.slice(slash)}`))
      }),
      classesOf(resourceNames.length > 0 ? resourceNames : [undefined], (name) => this.#names.of(name)),
    ]
  }

  paths({ nonResourceURLs = [] }: StoredPolicyRule): readonly (readonly ValueClass[])[] {
    const lengths = [...this.#prefixLengths].toSorted((a, b) => a - b)
    const grantedTo = (path: string): RuleSet => {
      let granted = this.#paths.of(path)
      for (const length of lengths) {
        if (length > path.length) break
        granted = this.#union(granted, this.#prefixes.of(path.slice(0, length)))
      }
      return granted
    }
    return [classesOf(nonResourceURLs, grantedTo)]
  }

  #union(a: RuleSet, b: RuleSet): RuleSet {
    if (a === b || b.bits === 0n) return a
    let known = this.#unions.get(a)
    if (!known) this.#unions.set(a, (known = new Map()))
    let union = known.get(b)
    if (!union) known.set(b, (union = setOf(this.#sets, a.bits | b.bits)))
    return union
  }
}

const isNamed = ({ resourceNames = [] }: StoredPolicyRule): boolean => resourceNames.length > 0

/** Different rules, those for all objects first, up to the limits. Rules that differ only in their names are one rule. */
function mostGeneral(rules: readonly StoredPolicyRule[]): readonly StoredPolicyRule[] {
  const different = new Map<string, StoredPolicyRule & { readonly resourceNames: string[] }>()
  let left = MAX_HELD_VALUES
  for (const rule of [...rules.filter((one) => !isNamed(one)), ...rules.filter(isNamed)]) {
    const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
    const parts = [verbs, apiGroups, resources, nonResourceURLs]
    const key = JSON.stringify([isNamed(rule), ...parts])
    const known = different.get(key)
    const size = (known ? [resourceNames] : [resourceNames, ...parts]).reduce((sum, { length }) => sum + length, 0)
    if (size > left || (!known && different.size === MAX_HELD_RULES)) continue
    left -= size
    if (known) for (const name of resourceNames) known.resourceNames.push(name)
    else different.set(key, { ...rule, resourceNames: [...resourceNames] })
  }
  return [...different.values()]
}

/** The held rules that grant a value of one part. */
class RuleIndex {
  readonly #sets: Map<string, RuleSet>
  readonly #exact = new Map<string, bigint>()
  readonly #known = new Map<string, RuleSet>()
  #always = 0n
  #others: RuleSet | undefined

  constructor(sets: Map<string, RuleSet>) {
    this.#sets = sets
  }

  /** `always`: the rule grants every value. */
  add(index: number, values: readonly string[], always: boolean): void {
    const bit = 1n << BigInt(index)
    if (always) this.#always |= bit
    else for (const value of values) this.#exact.set(value, (this.#exact.get(value) ?? 0n) | bit)
  }

  of(value: string | undefined): RuleSet {
    const exact = value === undefined ? undefined : this.#exact.get(value)
    if (exact === undefined || value === undefined) return (this.#others ??= setOf(this.#sets, this.#always))
    let set = this.#known.get(value)
    if (!set) this.#known.set(value, (set = setOf(this.#sets, exact | this.#always)))
    return set
  }
}

function setOf(sets: Map<string, RuleSet>, bits: bigint): RuleSet {
  // As text, because the hash of a bigint covers only its lowest digits.
  const key = bits.toString(32)
  let set = sets.get(key)
  if (!set) sets.set(key, (set = { bits }))
  return set
}

function classesOf<T extends string | undefined>(
  values: readonly T[],
  grantedTo: (value: T) => RuleSet,
): readonly ValueClass[] {
  const classes = new Map<RuleSet, T[]>()
  for (const value of values) {
    const set = grantedTo(value)
    const known = classes.get(set)
    if (known) known.push(value)
    else classes.set(set, [value])
  }
  return [...classes].map(([{ bits }, members]) => ({ granted: bits, values: members }))
}
