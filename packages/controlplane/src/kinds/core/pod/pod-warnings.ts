/** What the real server warns of: what works, but hardly as it was meant. */
import { addressAdvice } from '../../common/ip-warnings.ts'
import { nameOf } from '../../common/columns.ts'
import { formerLabel, termAdvice } from '../../common/deprecated-labels.ts'
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
import { dnsLabel } from '../../common/names.ts'
import { portAdvice } from './port-warnings.ts'
import { CONTAINER_PROFILE, POD_PROFILE } from './seccomp-annotations.ts'
import { fractionAdvice, podVolumeAdvice } from '../volume/volume-warnings.ts'

type Advise = (object: Json, old: Json | undefined) => readonly string[]

/** Of a kind that has such a template, when it is new and when what is wanted changes. */
export const adviseOnPods =
  (...template: readonly string[]): Advise =>
  (object, old) =>
    old && isSameGeneration(object, old) ? [] : templateAdvice(object, ...template)

/** The same of a kind whose pods are named after it. */
export function adviseOnTemplate(...template: readonly string[]): Advise {
  const advise = adviseOnPods(...template)
  return (object, old) => [...(old ? [] : adviseOnName(object)), ...advise(object, old)]
}

export const templateAdvice = (object: Json, ...template: readonly string[]): readonly string[] =>
  podAdvice(asJson(at(object, ...template)), `${template.join('.')}.`)

/** It counts what is wanted. */
export const isSameGeneration = (object: Json, old: Json): boolean =>
  at(object, 'metadata', 'generation') === at(old, 'metadata', 'generation')

export const adviseOnName = (object: Json): readonly string[] =>
  nameAdvice(nameOf(object), 'used in Pod names and hostnames')

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

const FORMER_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]
const PROFILE_ADVICE = 'non-functional in v1.27+; use the "seccompProfile" field instead'
const BYTES = ['memory', 'ephemeral-storage']

const hasProfile = (holder: Json): boolean => isJson(at(holder, 'securityContext', 'seccompProfile'))

/** Of a pod or a template of one; what stands before the names of its fields. */
function podAdvice(pod: Json, before: string): readonly string[] {
  const spec = asJson(pod['spec'])
  const field = `${before}spec`
  const annotations = asJson(at(pod, 'metadata', 'annotations'))
  const annotated = (key: string, advice: string): readonly string[] =>
    Object.hasOwn(annotations, key) ? [`${before}metadata.annotations[${key}]: ${advice}`] : []
  const aliases = asJsons(spec['hostAliases'])
  const containers = containersOf(spec, field)
  return [
    ...placeAdvice(spec, field),
    ...FORMER_ANNOTATIONS.flatMap(([key, advice]) => annotated(key, advice)),
    ...podVolumeAdvice(asJsons(spec['volumes']), `${field}.volumes`),
    ...repeated(aliases, 'ip').map(([index, ip]) => `${field}.hostAliases[${index}].ip: duplicate ip "${ip}"`),
    ...secretAdvice(asJsons(spec['imagePullSecrets']), `${field}.imagePullSecrets`),
    ...fractionAdvice(asJson(spec['overhead']), `${field}.overhead`, BYTES),
    ...(hasProfile(spec) ? [] : annotated(POD_PROFILE, PROFILE_ADVICE)),
    ...containers.flatMap(([container, place]) => [
      ...(hasProfile(container) ? [] : annotated(`${CONTAINER_PROFILE}${asText(container['name'])}`, PROFILE_ADVICE)),
      ...containerAdvice(container, place),
    ]),
    ...portAdvice(containers),
    ...(asNumber(spec['terminationGracePeriodSeconds']) < 0
      ? [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...['podAffinity', 'podAntiAffinity'].flatMap((name) =>
      companyAdvice(asJson(at(spec, 'affinity', name)), `${field}.affinity.${name}`),
    ),
    ...asList(at(spec, 'dnsConfig', 'nameservers')).flatMap((server, index) =>
      addressAdvice(asText(server), `${field}.dnsConfig.nameservers[${index}]`),
    ),
    ...aliases.flatMap(({ ip }, index) => addressAdvice(asText(ip), `${field}.hostAliases[${index}].ip`)),
  ]
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'
const NO_POD = 'a null labelSelector results in matching no pod'

/** Of where a pod is to run. */
function placeAdvice(spec: Json, field: string): readonly string[] {
  const nodes = asJson(at(spec, 'affinity', 'nodeAffinity'))
  const place = `${field}.affinity.nodeAffinity`
  return [
    ...Object.keys(asJson(spec['nodeSelector'])).flatMap((name) => {
      const advice = formerLabel(name)
      return advice === undefined ? [] : [`${field}.nodeSelector[${name}]: ${advice}`]
    }),
    ...asJsons(at(nodes, REQUIRED, 'nodeSelectorTerms')).flatMap((term, index) =>
      termAdvice(term, `${place}.${REQUIRED}.nodeSelectorTerms[${index}]`, false),
    ),
    ...asJsons(nodes[PREFERRED]).flatMap(({ preference }, index) =>
      termAdvice(asJson(preference), `${place}.${PREFERRED}[${index}].preference`, true),
    ),
    ...asJsons(spec['topologySpreadConstraints']).flatMap(({ topologyKey, labelSelector }, index) => {
      const [key, at] = [asText(topologyKey), `${field}.topologySpreadConstraints[${index}]`]
      const former = formerLabel(key)
      return [
        ...(former === undefined ? [] : [`${at}.topologyKey: ${key} is ${former}`]),
        ...(isAbsent(labelSelector) ? [`${at}.labelSelector: ${NO_POD}`] : []),
      ]
    }),
  ]
}

/** Of which other pods it is to be near, or far from. */
const companyAdvice = (affinity: Json, field: string): readonly string[] => [
  ...asJsons(affinity[REQUIRED]).flatMap(({ labelSelector }, index) =>
    isAbsent(labelSelector) ? [`${field}.${REQUIRED}[${index}].labelSelector: ${NO_POD}`] : [],
  ),
  ...asJsons(affinity[PREFERRED]).flatMap(({ podAffinityTerm }, index) =>
    isAbsent(at(podAffinityTerm, 'labelSelector'))
      ? [`${field}.${PREFERRED}[${index}].podAffinityTerm.labelSelector: ${NO_POD}`]
      : [],
  ),
]

const secretAdvice = (secrets: readonly Json[], field: string): readonly string[] => [
  ...repeated(secrets, 'name').map(([index, name]) => `${field}[${index}].name: duplicate name "${name}"`),
  ...secrets.flatMap(({ name }, index) => (name ? [] : [`${field}[${index}].name: invalid empty name ""`])),
]

/** With where they stand. */
const containersOf = (spec: Json, field: string): readonly (readonly [Json, string])[] =>
  ['initContainers', 'containers'].flatMap((list) =>
    asJsons(spec[list]).map((container, index) => [container, `${field}.${list}[${index}]`] as const),
  )

function containerAdvice(container: Json, field: string): readonly string[] {
  const env = asJsons(container['env'])
  return [
    ...BYTES.flatMap((name) =>
      ['limits', 'requests'].flatMap((list) =>
        fractionAdvice(asJson(at(container, 'resources', list)), `${field}.resources.${list}`, [name]),
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

/** Unless it says again what was said before, and more. */
function hides({ value, valueFrom }: Json, name: string): boolean {
  const reference = `$(${name})`
  return isJson(valueFrom) || value === reference || !asText(value).includes(reference)
}

/** Items that say the same as one before them. */
function repeated(items: readonly Json[], key: string): readonly (readonly [number, string])[] {
  const texts = items.map((item) => asText(item[key]))
  return [...repeats(texts)].map((index) => [index, texts[index] ?? ''] as const)
}

/** Of a daemon set, which counts changes of its template only. */
export const adviseOnDaemonSet: Advise = (object, old) =>
  old && isSemanticallyEqual(at(object, 'spec', 'template'), at(old, 'spec', 'template'))
    ? []
    : templateAdvice(object, 'spec', 'template')
