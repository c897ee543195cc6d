/** Warnings of kube-apiserver for pods and pod templates. */
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, dnsLabel, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, asNumber, isAbsent, isSemanticallyEqual, repeats } from '../../../model/json.ts'
import { nameOf } from '../../common/columns.ts'
import { deprecatedLabel, termWarnings } from '../../common/deprecated-labels.ts'
import { addressWarnings } from '../../common/ip-warnings.ts'
import { fractionWarnings, podVolumeWarnings } from '../volume/volume-warnings.ts'
import { portWarnings } from './port-warnings.ts'
import { CONTAINER_SECCOMP_PREFIX, POD_SECCOMP_ANNOTATION } from './seccomp-annotations.ts'

type GetWarnings = (object: JsonObject, old: JsonObject | undefined) => readonly string[]

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

export const templateWarnings = (object: JsonObject, ...template: readonly string[]): readonly string[] =>
  podWarnings(asJsonObject(valueAtPath(object, ...template)), `${template.join('.')}.`)

/** The generation counts changes of the spec. */
export const isSameGeneration = (object: JsonObject, old: JsonObject): boolean =>
  valueAtPath(object, 'metadata', 'generation') === valueAtPath(old, 'metadata', 'generation')

export const warningsForName = (object: JsonObject): readonly string[] =>
  nameWarnings(nameOf(object), 'used in Pod names and hostnames')

export function warningsForPod(pod: JsonObject, old: JsonObject | undefined): readonly string[] {
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

const hasProfile = (holder: JsonObject): boolean =>
  isJsonObject(valueAtPath(holder, 'securityContext', 'seccompProfile'))

/** Warnings for a pod or a pod template; `before` is the prefix of its field paths. */
function podWarnings(pod: JsonObject, before: string): readonly string[] {
  const spec = asJsonObject(pod['spec'])
  const field = `${before}spec`
  const annotations = asJsonObject(valueAtPath(pod, 'metadata', 'annotations'))
  const annotated = (key: string, warnings: string): readonly string[] =>
    Object.hasOwn(annotations, key) ? [`${before}metadata.annotations[${key}]: ${warnings}`] : []
  const aliases = asJsonObjects(spec['hostAliases'])
  const containers = containersOf(spec, field)
  return [
    ...schedulingWarnings(spec, field),
    ...DEPRECATED_ANNOTATIONS.flatMap(([key, warnings]) => annotated(key, warnings)),
    ...podVolumeWarnings(asJsonObjects(spec['volumes']), `${field}.volumes`),
    ...repeated(aliases, 'ip').map(([index, ip]) => `${field}.hostAliases[${index}].ip: duplicate ip "${ip}"`),
    ...secretWarnings(asJsonObjects(spec['imagePullSecrets']), `${field}.imagePullSecrets`),
    ...fractionWarnings(asJsonObject(spec['overhead']), `${field}.overhead`, BYTE_RESOURCES),
    ...(hasProfile(spec) ? [] : annotated(POD_SECCOMP_ANNOTATION, SECCOMP_WARNINGS)),
    ...containers.flatMap(([container, place]) => [
      ...(hasProfile(container)
        ? []
        : annotated(`${CONTAINER_SECCOMP_PREFIX}${asString(container['name'])}`, SECCOMP_WARNINGS)),
      ...containerWarnings(container, place),
    ]),
    ...portWarnings(containers),
    ...(asNumber(spec['terminationGracePeriodSeconds']) < 0
      ? [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...['podAffinity', 'podAntiAffinity'].flatMap((name) =>
      podAffinityWarnings(asJsonObject(valueAtPath(spec, 'affinity', name)), `${field}.affinity.${name}`),
    ),
    ...asArray(valueAtPath(spec, 'dnsConfig', 'nameservers')).flatMap((server, index) =>
      addressWarnings(asString(server), `${field}.dnsConfig.nameservers[${index}]`),
    ),
    ...aliases.flatMap(({ ip }, index) => addressWarnings(asString(ip), `${field}.hostAliases[${index}].ip`)),
  ]
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'
const NULL_SELECTOR_WARNING = 'a null labelSelector results in matching no pod'

/** Warnings for node selectors, affinity and topology spread constraints. */
function schedulingWarnings(spec: JsonObject, field: string): readonly string[] {
  const nodes = asJsonObject(valueAtPath(spec, 'affinity', 'nodeAffinity'))
  const place = `${field}.affinity.nodeAffinity`
  return [
    ...Object.keys(asJsonObject(spec['nodeSelector'])).flatMap((name) => {
      const warnings = deprecatedLabel(name)
      return warnings === undefined ? [] : [`${field}.nodeSelector[${name}]: ${warnings}`]
    }),
    ...asJsonObjects(valueAtPath(nodes, REQUIRED, 'nodeSelectorTerms')).flatMap((term, index) =>
      termWarnings(term, `${place}.${REQUIRED}.nodeSelectorTerms[${index}]`, false),
    ),
    ...asJsonObjects(nodes[PREFERRED]).flatMap(({ preference }, index) =>
      termWarnings(asJsonObject(preference), `${place}.${PREFERRED}[${index}].preference`, true),
    ),
    ...asJsonObjects(spec['topologySpreadConstraints']).flatMap(({ topologyKey, labelSelector }, index) => {
      const [key, at] = [asString(topologyKey), `${field}.topologySpreadConstraints[${index}]`]
      const former = deprecatedLabel(key)
      return [
        ...(former === undefined ? [] : [`${at}.topologyKey: ${key} is ${former}`]),
        ...(isAbsent(labelSelector) ? [`${at}.labelSelector: ${NULL_SELECTOR_WARNING}`] : []),
      ]
    }),
  ]
}

/** Warnings for pod affinity and anti-affinity. */
const podAffinityWarnings = (affinity: JsonObject, field: string): readonly string[] => [
  ...asJsonObjects(affinity[REQUIRED]).flatMap(({ labelSelector }, index) =>
    isAbsent(labelSelector) ? [`${field}.${REQUIRED}[${index}].labelSelector: ${NULL_SELECTOR_WARNING}`] : [],
  ),
  ...asJsonObjects(affinity[PREFERRED]).flatMap(({ podAffinityTerm }, index) =>
    isAbsent(valueAtPath(podAffinityTerm, 'labelSelector'))
      ? [`${field}.${PREFERRED}[${index}].podAffinityTerm.labelSelector: ${NULL_SELECTOR_WARNING}`]
      : [],
  ),
]

const secretWarnings = (secrets: readonly JsonObject[], field: string): readonly string[] => [
  ...repeated(secrets, 'name').map(([index, name]) => `${field}[${index}].name: duplicate name "${name}"`),
  ...secrets.flatMap(({ name }, index) => (name ? [] : [`${field}[${index}].name: invalid empty name ""`])),
]

/** Returns the containers with their field paths. */
const containersOf = (spec: JsonObject, field: string): readonly (readonly [JsonObject, string])[] =>
  ['initContainers', 'containers'].flatMap((list) =>
    asJsonObjects(spec[list]).map((container, index) => [container, `${field}.${list}[${index}]`] as const),
  )

function containerWarnings(container: JsonObject, field: string): readonly string[] {
  const env = asJsonObjects(container['env'])
  return [
    ...BYTE_RESOURCES.flatMap((name) =>
      ['limits', 'requests'].flatMap((list) =>
        fractionWarnings(asJsonObject(valueAtPath(container, 'resources', list)), `${field}.resources.${list}`, [name]),
      ),
    ),
    ...repeated(env, 'name')
      .filter(([index, name]) => hides(asJsonObject(env[index]), name))
      .map(
        ([index, name]) =>
          `${field}.env[${index}]: hides previous definition of "${name}", which may be dropped when using apply`,
      ),
  ]
}

/** A variable that refers to its previous value does not hide it. */
function hides({ value, valueFrom }: JsonObject, name: string): boolean {
  const reference = `$(${name})`
  return isJsonObject(valueFrom) || value === reference || !asString(value).includes(reference)
}

/** Returns index and value of the items that repeat an earlier value of `key`. */
function repeated(items: readonly JsonObject[], key: string): readonly (readonly [number, string])[] {
  const texts = items.map((item) => asString(item[key]))
  return [...repeats(texts)].map((index) => [index, texts[index] ?? ''] as const)
}

/** Warnings for a DaemonSet, on create and when its template changes. */
export const warningsForDaemonSet: GetWarnings = (object, old) =>
  old && isSemanticallyEqual(valueAtPath(object, 'spec', 'template'), valueAtPath(old, 'spec', 'template'))
    ? []
    : templateWarnings(object, 'spec', 'template')
