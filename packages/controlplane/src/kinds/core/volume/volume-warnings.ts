/** What the real server warns of in volumes: of pods, of the cluster, and in claims. */
import { goQuote } from '../../../schema/go-text.ts'
import { termAdvice } from '../../common/deprecated-labels.ts'
import type { Json } from '../../../model/json.ts'
import { asJson, asJsons, asText, at, isJson } from '../../../model/json.ts'
import { isWhole } from '../../common/quantity.ts'

/** Sources of volumes that nobody serves any more: how the field is called, and since when. */
const FORMER_SOURCES: Readonly<Record<string, readonly [name: string, since: string]>> = {
  cephfs: ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  photonPersistentDisk: ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  scaleIO: ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  storageos: ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  glusterfs: ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  rbd: ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
}
const FORMER_IN_PODS: typeof FORMER_SOURCES = {
  ...FORMER_SOURCES,
  gitRepo: ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  flocker: ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  quobyte: ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
}

const formerSources = (volume: Json, field: string, former: typeof FORMER_SOURCES): readonly string[] =>
  Object.entries(former).flatMap(([source, [name, since]]) =>
    isJson(volume[source]) ? [`${field}.${name}: ${since}`] : [],
  )

/** Where a volume or a claim said its class before there was a field for it. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const FORMER_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [CLASS_ANNOTATION, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
]

const annotated = (object: Json, former: typeof FORMER_ANNOTATIONS): readonly string[] =>
  former
    .filter(([key]) => at(object, 'metadata', 'annotations', key) !== undefined)
    .map(([key, text]) => `metadata.annotations[${key}]: ${text}`)

export function adviseOnVolume(volume: Json): readonly string[] {
  const spec = asJson(volume['spec'])
  const recycling =
    'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'
  const terms = asJsons(at(spec, 'nodeAffinity', 'required', 'nodeSelectorTerms'))
  return [
    ...annotated(volume, FORMER_ANNOTATIONS),
    ...(spec['persistentVolumeReclaimPolicy'] === 'Recycle'
      ? [`spec.persistentVolumeReclaimPolicy: ${recycling}`]
      : []),
    ...terms.flatMap((term, index) =>
      termAdvice(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, false),
    ),
    ...formerSources(spec, 'spec', FORMER_SOURCES),
  ]
}

export const adviseOnClaim = (claim: Json): readonly string[] => [
  ...annotated(claim, FORMER_ANNOTATIONS.slice(0, 1)),
  ...claimAdvice(asJson(claim['spec']), 'spec'),
]

export const claimAdvice = (spec: Json, field: string): readonly string[] =>
  ['requests', 'limits'].flatMap((list) =>
    fractionAdvice(asJson(at(spec, 'resources', list)), `${field}.resources.${list}`, ['storage']),
  )

/** There is no half of a byte. */
export function fractionAdvice(amounts: Json, field: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) =>
    amounts[name] === undefined || isWhole(amounts[name])
      ? []
      : [`${field}[${name}]: fractional byte value "${asText(amounts[name])}" is invalid, must be an integer`],
  )
}

/** Of the volumes of a pod, of which some are made of files that are given names. */
export function podVolumeAdvice(volumes: readonly Json[], field: string): readonly string[] {
  const budget = { overlaps: MOST_OVERLAPS, comparisons: MOST_COMPARISONS }
  return [
    ...volumes.flatMap((volume, index) => {
      const place = `${field}[${index}]`
      const claim = asJson(at(volume, 'ephemeral', 'volumeClaimTemplate', 'spec'))
      return [
        ...formerSources(volume, place, FORMER_IN_PODS),
        ...claimAdvice(claim, `${place}.ephemeral.volumeClaimTemplate.spec`),
      ]
    }),
    ...volumes.flatMap((volume) => overlapAdvice(volume, budget)),
  ]
}

interface Place {
  readonly path: string
  readonly source: string
}

const placesOf = (items: unknown, source: string): readonly Place[] =>
  asJsons(items).map(({ path }) => ({ path: asText(path), source }))

function overlapAdvice(volume: Json, budget: Budget): readonly string[] {
  const { name, configMap, secret, downwardAPI, projected } = volume
  const say = (what: string, places: readonly Place[]): readonly string[] =>
    overlaps(places, budget).map((text) => `volume ${goQuote(asText(name))} (${what}): overlapping paths: ${text}`)
  const map = asJson(configMap)
  const hidden = asJson(secret)
  const sources = asJsons(asJson(projected)['sources'])
  return [
    ...say(`ConfigMap ${goQuote(asText(map['name']))}`, placesOf(map['items'], '')),
    ...say(`Secret ${goQuote(asText(hidden['secretName']))}`, placesOf(hidden['items'], '')),
    ...say('DownwardAPI', placesOf(at(downwardAPI, 'items'), '')),
    ...sources.flatMap((source) =>
      Object.keys(source).length === 0 ? [`volume ${goQuote(asText(name))} (Projected) has no sources provided`] : [],
    ),
    ...say('Projected', sources.flatMap(projectedPlaces)),
  ]
}

const named = (what: string, name: unknown): string => `${what} ${goQuote(asText(name))}`

function one(holder: unknown, field: string, source: string): readonly Place[] {
  const path = asText(at(holder, field))
  return path ? [{ path, source }] : []
}

function projectedPlaces(source: Json): readonly Place[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const bundle = asJson(clusterTrustBundle)
  return [
    ...placesOf(at(configMap, 'items'), named('ConfigMap', at(configMap, 'name'))),
    ...placesOf(at(secret, 'items'), named('Secret', at(secret, 'name'))),
    ...placesOf(at(downwardAPI, 'items'), 'DownwardAPI'),
    ...one(serviceAccountToken, 'path', 'ServiceAccountToken'),
    ...one(bundle, 'path', named('ClusterTrustBundle', bundle['name'] ?? bundle['signerName'])),
    ...one(podCertificate, 'certificateChainPath', 'PodCertificate chain'),
    ...one(podCertificate, 'keyPath', 'PodCertificate key'),
    ...one(podCertificate, 'credentialBundlePath', 'PodCertificate credential bundle'),
  ]
}

/** More than an answer has room for, and more files than people have in a pod: each is compared with all before it in its volume. */
const MOST_OVERLAPS = 128
const MOST_COMPARISONS = 1_000_000

interface Budget {
  overlaps: number
  comparisons: number
}

const shown = ({ path, source }: Place): string => (source ? `${goQuote(path)} (${source})` : goQuote(path))

function overlaps(given: readonly Place[], budget: Budget): readonly string[] {
  const places = given.map(({ path, source }) => ({ path: withoutSlashes(path), source }))
  const found: string[] = []
  for (const [index, place] of places.entries()) {
    if (!place.path) continue
    for (let before = 0; before < index; before++) {
      const other = places[before]
      if (--budget.comparisons < 0) return found
      if (!other?.path || !(isBelow(other.path, place.path) || isBelow(place.path, other.path))) continue
      if (--budget.overlaps < 0) return found
      found.push(`${shown(place)} with ${shown(other)}`)
    }
  }
  return found
}

const isBelow = (path: string, other: string): boolean =>
  path.startsWith(other) && (path.length === other.length || path[other.length] === '/')

/** No regular expression: on many slashes with something behind them it would take a very long time. */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}
