/** Labels that nodes had before, since when they have others, and which. */
const FORMER_LABELS: ReadonlyMap<string, readonly [since: string, now: string]> = new Map([
  ['beta.kubernetes.io/arch', ['v1.14', 'kubernetes.io/arch']],
  ['beta.kubernetes.io/os', ['v1.14', 'kubernetes.io/os']],
  ['failure-domain.beta.kubernetes.io/region', ['v1.17', 'topology.kubernetes.io/region']],
  ['failure-domain.beta.kubernetes.io/zone', ['v1.17', 'topology.kubernetes.io/zone']],
  ['beta.kubernetes.io/instance-type', ['v1.17', 'node.kubernetes.io/instance-type']],
])

/** The label that took its place; undefined of one that is in use. */
export const successorOf = (name: string): string | undefined => FORMER_LABELS.get(name)?.[1]

export function formerLabel(name: string): string | undefined {
  const [since, now] = FORMER_LABELS.get(name) ?? []
  return now === undefined ? undefined : `deprecated since ${since}; use "${now}" instead`
}
