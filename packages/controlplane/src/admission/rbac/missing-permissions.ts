import { append } from '../../model/append.ts'
import type { StoredPolicyRule } from '../../rbac/policy-rule.ts'
import { HeldRules, type ValueClass } from './held-rules.ts'

/** Characters of all listed permissions. */
const MAX_LISTED_CHARACTERS = 64 * 1024
/** Comparisons of a role with the held rules. Each covers as many permissions as the held rules treat alike. */
const MAX_COMPARISONS = 200_000

/**
 * The permissions of `wanted` that `held` does not grant, as kube-apiserver prints them. A rule of a few kilobytes stands
 * for millions of permissions, so they are compared in classes and listed only up to a limit.
 */
export function missingPermissions(
  held: readonly StoredPolicyRule[],
  wanted: readonly StoredPolicyRule[],
): readonly string[] {
  const missing = new MissingPermissions(new HeldRules(held))
  for (const rule of wanted) missing.compare(rule)
  return missing.lines()
}

interface Parts {
  readonly parts: readonly (readonly ValueClass[])[]
  readonly verbs: readonly ValueClass[]
  /** For each part, the held rules that grant every permission of this part and the following ones. */
  readonly grantRest: readonly bigint[]
  readonly rule: StoredPolicyRule
  add(values: readonly (string | undefined)[], verbs: readonly string[]): void
}

class MissingPermissions {
  readonly #held: HeldRules
  readonly #resources = new Map<string, string[]>()
  readonly #paths = new Set<string>()
  #characters = 0
  #comparisons = 0
  /** Why the list is not complete. */
  #stopped: string | undefined

  constructor(held: HeldRules) {
    this.#held = held
  }

  compare(rule: StoredPolicyRule): void {
    const verbs = this.#held.verbs(rule)
    if (verbs.length === 0) return
    const kinds = [
      { parts: this.#held.resources(rule), add: this.#addResource },
      { parts: this.#held.paths(rule), add: this.#addPath },
    ]
    for (const { parts, add } of kinds) {
      if (parts.some((classes) => classes.length === 0)) continue
      let rest = this.#grantAll(verbs)
      const grantRest = [rest]
      for (const classes of parts.toReversed()) grantRest.unshift((rest &= this.#grantAll(classes)))
      this.#walk({ parts, verbs, grantRest, rule, add }, [], this.#held.all)
    }
  }

  lines(): readonly string[] {
    const lines = [...this.#resources].map(([key, verbs]) => `{${key}, Verbs:${quotedList(verbs)}}`)
    const stopped = this.#stopped === undefined ? [] : [this.#stopped]
    return [...[...this.#paths, ...lines].toSorted(), ...stopped]
  }

  #grantAll(classes: readonly ValueClass[]): bigint {
    return classes.reduce((bits, { granted }) => bits & granted, this.#held.all)
  }

  /** Chooses a class of the next part. `granted` are the held rules that grant all chosen classes. */
  #walk(compared: Parts, chosen: readonly ValueClass[], granted: bigint): void {
    if (this.#stopped !== undefined || (granted & (compared.grantRest[chosen.length] ?? 0n)) !== 0n) return
    if (++this.#comparisons > MAX_COMPARISONS) {
      this.#stopped = '(the comparison was ended because the role is too large; use several smaller roles)'
      return
    }
    const next = compared.parts[chosen.length]
    // No held rule grants what is chosen, whatever the following parts are.
    if (granted === 0n || !next) return this.#list(compared, chosen, granted)
    for (const one of next) this.#walk(compared, [...chosen, one], granted & one.granted)
  }

  #list({ parts, verbs, rule, add }: Parts, chosen: readonly ValueClass[], granted: bigint): void {
    this.#comparisons += verbs.length
    const missing = new Set(verbs.filter((one) => (one.granted & granted) === 0n).flatMap(({ values }) => values))
    if (missing.size === 0) return
    const named = (rule.verbs ?? []).filter((verb) => missing.has(verb))
    const rest = parts.slice(chosen.length).map((classes) => classes.flatMap(({ values }) => values))
    for (const values of products([...chosen.map((one) => one.values), ...rest])) {
      add(values, named)
      if (this.#stopped !== undefined) return
    }
  }

  /** Merges permissions that differ only in their verb. */
  readonly #addResource = (values: readonly (string | undefined)[], verbs: readonly string[]): void => {
    const [group = '', resource = '', name] = values
    const names = name === undefined ? '' : `, ResourceNames:${quotedList([name])}`
    const key = `APIGroups:${quotedList([group])}, Resources:${quotedList([resource])}${names}`
    const known = this.#resources.get(key)
    const added = verbs.reduce((length, verb) => length + quoted(verb), known ? 0 : key.length)
    if (!this.#fits(added)) return
    if (known) append(known, verbs)
    else this.#resources.set(key, [...verbs])
  }

  readonly #addPath = ([path = '']: readonly (string | undefined)[], verbs: readonly string[]): void => {
    for (const verb of verbs) {
      if (!this.#fits(quoted(path) + quoted(verb))) return
      this.#paths.add(`{NonResourceURLs:${quotedList([path])}, Verbs:${quotedList([verb])}}`)
    }
  }

  #fits(characters: number): boolean {
    this.#characters += characters
    if (this.#characters <= MAX_LISTED_CHARACTERS) return true
    this.#stopped = '(the list is not complete)'
    return false
  }
}

/** Characters that a value takes, with a share of the words around it. */
const quoted = (value: string): number => value.length + 16

/** Every choice of one value of each list. */
function* products<T>(lists: readonly (readonly T[])[]): Generator<readonly T[]> {
  const [first, ...rest] = lists
  if (!first) {
    yield []
    return
  }
  for (const value of first) for (const others of products(rest)) yield [value, ...others]
}

/** Formats a list of strings as Go does. */
export const quotedList = (list: readonly string[]): string => `[${list.map((item) => JSON.stringify(item)).join(' ')}]`
