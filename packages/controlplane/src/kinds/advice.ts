/** What the real server warns of: what works, but hardly as it was meant. */
import { nameOf } from './cells.ts'
import { formerLabel } from './former-labels.ts'
import type { Json } from './json.ts'
import { asJson, asJsons, asText, at, isSemanticallyEqual, repeats } from './json.ts'
import { dnsLabel } from './names.ts'
import { isProfile } from './profile-annotations.ts'
import { isWhole } from './quantity.ts'

/** Of a kind whose pods are named after it. */
export const adviseOnTemplate =
  (...template: readonly string[]) =>
  (object: Json, old: Json | undefined): readonly string[] => {
    if (old) {
      if (isSemanticallyEqual(at(object, ...template), at(old, ...template))) return []
      return podAdvice(asJson(at(object, ...template)), `${template.join('.')}.`)
    }
    const use = 'used in Pod names and hostnames'
    return [...nameAdvice(nameOf(object), use), ...podAdvice(asJson(at(object, ...template)), `${template.join('.')}.`)]
  }

export function adviseOnPod(pod: Json, old: Json | undefined): readonly string[] {
  if (old) return []
  return [...nameAdvice(nameOf(pod), "used in the Pod's hostname"), ...podAdvice(pod, '')]
}

function nameAdvice(name: string, use: string): readonly string[] {
  if (dnsLabel(name).length === 0) return []
  const why = name.includes('.') ? 'must not contain dots' : 'must be no more than 63 characters'
  return [
    `metadata.name: this is ${use}, which can result in surprising behavior; a DNS label is recommended: [${why}]`,
  ]
}

const PROFILE_ADVICE = 'non-functional in v1.27+; use the "seccompProfile" field instead'

/** Of a pod or a template of one; what stands before the names of its fields. */
function podAdvice(pod: Json, before: string): readonly string[] {
  const spec = asJson(pod['spec'])
  const field = `${before}spec`
  return [
    ...Object.keys(asJson(spec['nodeSelector'])).flatMap((name) => {
      const advice = formerLabel(name)
      return advice === undefined ? [] : [`${field}.nodeSelector[${name}]: ${advice}`]
    }),
    ...repeated(asJsons(spec['hostAliases']), 'ip').map(
      ([index, ip]) => `${field}.hostAliases[${index}].ip: duplicate ip "${ip}"`,
    ),
    ...asJsons(spec['imagePullSecrets']).flatMap(({ name }, index) =>
      name ? [] : [`${field}.imagePullSecrets[${index}].name: invalid empty name ""`],
    ),
    ...containersOf(spec, field).flatMap(([container, at]) => containerAdvice(container, at)),
    ...portAdvice(containersOf(spec, field)),
    ...Object.keys(asJson(at(pod, 'metadata', 'annotations')))
      .filter((key) => isProfile(key))
      .map((key) => `${before}metadata.annotations[${key}]: ${PROFILE_ADVICE}`),
  ]
}

/** With where they stand. */
const containersOf = (spec: Json, field: string): readonly (readonly [Json, string])[] =>
  ['initContainers', 'containers'].flatMap((list) =>
    asJsons(spec[list]).map((container, index) => [container, `${field}.${list}[${index}]`] as const),
  )

/** More than an answer has room for, and more ports than people have in a pod: each is compared with all before it. */
const MOST_CLASHES = 128
const MOST_COMPARISONS = 1_000_000

/** Ports that get in each other's way, in one container or in two. */
function portAdvice(containers: readonly (readonly [Json, string])[]): readonly string[] {
  const ports = containers.flatMap(([container, field]) =>
    asJsons(container['ports']).map((port, index) => ({ port, field: `${field}.ports[${index}]` })),
  )
  const advice: string[] = []
  let comparisons = 0
  for (const [index, { port, field }] of ports.entries()) {
    for (let before = 0; before < index; before++) {
      if (advice.length >= MOST_CLASHES || ++comparisons > MOST_COMPARISONS) return advice
      const other = ports[before]
      const how = other && clashOf(port, other.port)
      if (other && how !== undefined) advice.push(`${field}: ${how} port definition with ${other.field}`)
    }
  }
  return advice
}

function clashOf(port: Json, other: Json): string | undefined {
  const same = (name: string): boolean => (port[name] || undefined) === (other[name] || undefined)
  if (!same('containerPort') || !same('protocol')) return undefined
  if (same('hostIP') && same('hostPort')) return 'duplicate'
  if (!port['hostPort'] || !other['hostPort']) return 'overlapping'
  // Then one of them is for every address.
  return same('hostPort') && !(port['hostIP'] && other['hostIP']) ? 'dangerously ambiguous' : undefined
}

function containerAdvice(container: Json, field: string): readonly string[] {
  return [
    ...['limits', 'requests'].flatMap((list) =>
      fractionAdvice(asJson(at(container, 'resources', list)), `${field}.resources.${list}`),
    ),
    ...repeated(asJsons(container['env']), 'name').map(
      ([index, name]) =>
        `${field}.env[${index}]: hides previous definition of "${name}", which may be dropped when using apply`,
    ),
  ]
}

/** There is no half of a byte. */
export function fractionAdvice(amounts: Json, field: string): readonly string[] {
  return ['memory', 'storage', 'ephemeral-storage'].flatMap((name) =>
    amounts[name] === undefined || isWhole(amounts[name])
      ? []
      : [`${field}[${name}]: fractional byte value "${asText(amounts[name])}" is invalid, must be an integer`],
  )
}

/** Items that say the same as one before them. */
function repeated(items: readonly Json[], key: string): readonly (readonly [number, string])[] {
  const texts = items.map((item) => asText(item[key]))
  return [...repeats(texts)].flatMap((index) => (texts[index] ? [[index, texts[index]] as const] : []))
}
