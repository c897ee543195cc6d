/** Warnings of kube-apiserver for pods and pod templates. */
import type { Json } from '../../../model/json.ts'
import {
  asJson,
  asJsons,
  asList,
  asNumber,
  asText,
  at,
  isAbsent,
  isJson,
  isSemanticallyEqual,
  repeats,
} from '../../../model/json.ts'
import { nameOf } from '../../common/columns.ts'
import { deprecatedLabel, termWarnings } from '../../common/deprecated-labels.ts'
import { addressWarnings } from '../../common/ip-warnings.ts'
import { dnsLabel } from '../../common/names.ts'
import { fractionWarnings, podVolumeWarnings } from '../volume/volume-warnings.ts'
import { portWarnings } from './port-warnings.ts'
import { CONTAINER_SECCOMP_PREFIX, POD_SECCOMP_ANNOTATION } from './seccomp-annotations.ts'

type GetWarnings = (object: Json, old: Json | undefined) => readonly string[]

/** Warnings for a kind with a pod template at `template`, on create and when the generation changes. */
export const warningsForPods =
  (...template: readonly string[]): GetWarnings =>
  (object, old) =>
    old && isSameGeneration(object, old) ? [] : templateWarnings(object, ...template)

/** The same for a kind whose pods are named after it. */
export function warningsForTemplate(...template: readonly string[]): GetWarnings {
  const warnings = warningsForPods(...template)
  return (object, old) => [...(old ? [] : warningsForName(object)), ...warnings(object, old)]
}

export const templateWarnings = (object: Json, ...template: readonly string[]): readonly string[] =>
  podWarnings(asJson(at(object, ...template)), `${template.join('.')}.`)

/** The generation counts changes of the spec. */
export const isSameGeneration = (object: Json, old: Json): boolean =>
  at(object, 'metadata', 'generation') === at(old, 'metadata', 'generation')

export const warningsForName = (object: Json): readonly string[] =>
  nameWarnings(nameOf(object), 'used in Pod names and hostnames')

export function warningsForPod(pod: Json, old: Json | undefined): readonly string[] {
  if (old) return []
  return [...nameWarnings(nameOf(pod), "used in the Pod's hostname"), ...podWarnings(pod, '')]
}

function nameWarnings(name: string, use: string): readonly string[] {
  if (dnsLabel(name).length === 0) return []
  const why = name.includes('.') ? 'must not contain dots' : 'must be no more than 63 characters'
  return [
    `metadata.name: this is ${use}, which can result in surprising behavior; a DNS label is recommended: [${why}]`,
  ]
}

const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]
const SECCOMP_WARNINGS = 'non-functional in v1.27+; use the "seccompProfile" field instead'
const BYTE_RESOURCES = ['memory', 'ephemeral-storage']

const hasProfile = (holder: Json): boolean => isJson(at(holder, 'securityContext', 'seccompProfile'))

/** Warnings for a pod or a pod template; `before` is the prefix of its field paths. */
function podWarnings(pod: Json, before: string): readonly string[] {
  const spec = asJson(pod['spec'])
  const field = `${before}spec`
  const annotations = asJson(at(pod, 'metadata', 'annotations'))
  const annotated = (key: string, warnings: string): readonly string[] =>
    Object.hasOwn(annotations, key) ? [`${before}metadata.annotations[${key}]: ${warnings}`] : []
  const aliases = asJsons(spec['hostAliases'])
  const containers = containersOf(spec, field)
  return [
    ...schedulingWarnings(spec, field),
    ...DEPRECATED_ANNOTATIONS.flatMap(([key, warnings]) => annotated(key, warnings)),
    ...podVolumeWarnings(asJsons(spec['volumes']), `${field}.volumes`),
    ...repeated(aliases, 'ip').map(([index, ip]) => `${field}.hostAliases[${index}].ip: duplicate ip "${ip}"`),
    ...secretWarnings(asJsons(spec['imagePullSecrets']), `${field}.imagePullSecrets`),
    ...fractionWarnings(asJson(spec['overhead']), `${field}.overhead`, BYTE_RESOURCES),
    ...(hasProfile(spec) ? [] : annotated(POD_SECCOMP_ANNOTATION, SECCOMP_WARNINGS)),
    ...containers.flatMap(([container, place]) => [
      ...(hasProfile(container)
        ? []
        : annotated(`${CONTAINER_SECCOMP_PREFIX}${asText(container['name'])}`, SECCOMP_WARNINGS)),
      ...containerWarnings(container, place),
    ]),
    ...portWarnings(containers),
    ...(asNumber(spec['terminationGracePeriodSeconds']) < 0
      ? [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...['podAffinity', 'podAntiAffinity'].flatMap((name) =>
      podAffinityWarnings(asJson(at(spec, 'affinity', name)), `${field}.affinity.${name}`),
    ),
    ...asList(at(spec, 'dnsConfig', 'nameservers')).flatMap((server, index) =>
      addressWarnings(asText(server), `${field}.dnsConfig.nameservers[${index}]`),
    ),
    ...aliases.flatMap(({ ip }, index) => addressWarnings(asText(ip), `${field}.hostAliases[${index}].ip`)),
  ]
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'
const NULL_SELECTOR_WARNING = 'a null labelSelector results in matching no pod'

/** Warnings for node selectors, affinity and topology spread constraints. */
function schedulingWarnings(spec: Json, field: string): readonly string[] {
  const nodes = asJson(at(spec, 'affinity', 'nodeAffinity'))
  const place = `${field}.affinity.nodeAffinity`
  return [
    ...Object.keys(asJson(spec['nodeSelector'])).flatMap((name) => {
      const warnings = deprecatedLabel(name)
      return warnings === undefined ? [] : [`${field}.nodeSelector[${name}]: ${warnings}`]
    }),
    ...asJsons(at(nodes, REQUIRED, 'nodeSelectorTerms')).flatMap((term, index) =>
      termWarnings(term, `${place}.${REQUIRED}.nodeSelectorTerms[${index}]`, false),
    ),
    ...asJsons(nodes[PREFERRED]).flatMap(({ preference }, index) =>
      termWarnings(asJson(preference), `${place}.${PREFERRED}[${index}].preference`, true),
    ),
    ...asJsons(spec['topologySpreadConstraints']).flatMap(({ topologyKey, labelSelector }, index) => {
      const [key, at] = [asText(topologyKey), `${field}.topologySpreadConstraints[${index}]`]
      const former = deprecatedLabel(key)
      return [
        ...(former === undefined ? [] : [`${at}.topologyKey: ${key} is ${former}`]),
        ...(isAbsent(labelSelector) ? [`${at}.labelSelector: ${NULL_SELECTOR_WARNING}`] : []),
      ]
    }),
  ]
}

/** Warnings for pod affinity and anti-affinity. */
const podAffinityWarnings = (affinity: Json, field: string): readonly string[] => [
  ...asJsons(affinity[REQUIRED]).flatMap(({ labelSelector }, index) =>
    isAbsent(labelSelector) ? [`${field}.${REQUIRED}[${index}].labelSelector: ${NULL_SELECTOR_WARNING}`] : [],
  ),
  ...asJsons(affinity[PREFERRED]).flatMap(({ podAffinityTerm }, index) =>
    isAbsent(at(podAffinityTerm, 'labelSelector'))
      ? [`${field}.${PREFERRED}[${index}].podAffinityTerm.labelSelector: ${NULL_SELECTOR_WARNING}`]
      : [],
  ),
]

const secretWarnings = (secrets: readonly Json[], field: string): readonly string[] => [
  ...repeated(secrets, 'name').map(([index, name]) => `${field}[${index}].name: duplicate name "${name}"`),
  ...secrets.flatMap(({ name }, index) => (name ? [] : [`${field}[${index}].name: invalid empty name ""`])),
]

/** Returns the containers with their field paths. */
const containersOf = (spec: Json, field: string): readonly (readonly [Json, string])[] =>
  ['initContainers', 'containers'].flatMap((list) =>
    asJsons(spec[list]).map((container, index) => [container, `${field}.${list}[${index}]`] as const),
  )

function containerWarnings(container: Json, field: string): readonly string[] {
  const env = asJsons(container['env'])
  return [
    ...BYTE_RESOURCES.flatMap((name) =>
      ['limits', 'requests'].flatMap((list) =>
        fractionWarnings(asJson(at(container, 'resources', list)), `${field}.resources.${list}`, [name]),
      ),
    ),
    ...repeated(env, 'name')
      .filter(([index, name]) => hides(asJson(env[index]), name))
      .map(
        ([index, name]) =>
          `${field}.env[${index}]: hides previous definition of "${name}", which may be dropped when using apply`,
      ),
  ]
}

/** A variable that refers to its previous value does not hide it. */
function hides({ value, valueFrom }: Json, name: string): boolean {
  const reference = `$(${name})`
  return isJson(valueFrom) || value === reference || !asText(value).includes(reference)
}

/** Returns index and value of the items that repeat an earlier value of `key`. */
function repeated(items: readonly Json[], key: string): readonly (readonly [number, string])[] {
  const texts = items.map((item) => asText(item[key]))
  return [...repeats(texts)].map((index) => [index, texts[index] ?? ''] as const)
}

/** Warnings for a DaemonSet, on create and when its template changes. */
export const warningsForDaemonSet: GetWarnings = (object, old) =>
  old && isSemanticallyEqual(at(object, 'spec', 'template'), at(old, 'spec', 'template'))
    ? []
    : templateWarnings(object, 'spec', 'template')
