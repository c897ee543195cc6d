/** Warnings of kube-apiserver for volumes, persistent volumes and claims. */
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from '../../../model/json.ts'
import { goQuote } from '../../../schema/go-text.ts'
import { termWarnings } from '../../common/deprecated-labels.ts'
import { isWhole } from '../../common/quantity.ts'

/** Deprecated volume sources: field name in the warning, and since when. */
const DEPRECATED_SOURCES: Readonly<Record<string, readonly [name: string, since: string]>> = {
  cephfs: ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  photonPersistentDisk: ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  scaleIO: ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  storageos: ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  glusterfs: ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  rbd: ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
}
const DEPRECATED_POD_SOURCES: typeof DEPRECATED_SOURCES = {
  ...DEPRECATED_SOURCES,
  gitRepo: ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  flocker: ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  quobyte: ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
}

const deprecatedSources = (volume: JsonObject, field: string, former: typeof DEPRECATED_SOURCES): readonly string[] =>
  Object.entries(former).flatMap(([source, [name, since]]) =>
    isJsonObject(volume[source]) ? [`${field}.${name}: ${since}`] : [],
  )

/** The predecessor of `storageClassName`. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [CLASS_ANNOTATION, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
]

const annotated = (object: JsonObject, former: typeof DEPRECATED_ANNOTATIONS): readonly string[] =>
  former
    .filter(([key]) => valueAtPath(object, 'metadata', 'annotations', key) !== undefined)
    .map(([key, text]) => `metadata.annotations[${key}]: ${text}`)

export function warningsForVolume(volume: JsonObject): readonly string[] {
  const spec = asJsonObject(volume['spec'])
  const recycling =
    'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'
  const terms = asJsonObjects(valueAtPath(spec, 'nodeAffinity', 'required', 'nodeSelectorTerms'))
  return [
    ...annotated(volume, DEPRECATED_ANNOTATIONS),
    ...(spec['persistentVolumeReclaimPolicy'] === 'Recycle'
      ? [`spec.persistentVolumeReclaimPolicy: ${recycling}`]
      : []),
    ...terms.flatMap((term, index) =>
      termWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, false),
    ),
    ...deprecatedSources(spec, 'spec', DEPRECATED_SOURCES),
  ]
}

export const warningsForClaim = (claim: JsonObject): readonly string[] => [
  ...annotated(claim, DEPRECATED_ANNOTATIONS.slice(0, 1)),
  ...claimWarnings(asJsonObject(claim['spec']), 'spec'),
]

export const claimWarnings = (spec: JsonObject, field: string): readonly string[] =>
  ['requests', 'limits'].flatMap((list) =>
    fractionWarnings(asJsonObject(valueAtPath(spec, 'resources', list)), `${field}.resources.${list}`, ['storage']),
  )

/** Warns of fractional bytes. */
export function fractionWarnings(amounts: JsonObject, field: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) =>
    amounts[name] === undefined || isWhole(amounts[name])
      ? []
      : [`${field}[${name}]: fractional byte value "${asString(amounts[name])}" is invalid, must be an integer`],
  )
}

/** Warnings for the volumes of a pod. */
export function podVolumeWarnings(volumes: readonly JsonObject[], field: string): readonly string[] {
  const budget = { overlaps: MAX_REPORTED_OVERLAPS, comparisons: MAX_COMPARISONS }
  return [
    ...volumes.flatMap((volume, index) => {
      const place = `${field}[${index}]`
      const claim = asJsonObject(valueAtPath(volume, 'ephemeral', 'volumeClaimTemplate', 'spec'))
      return [
        ...deprecatedSources(volume, place, DEPRECATED_POD_SOURCES),
        ...claimWarnings(claim, `${place}.ephemeral.volumeClaimTemplate.spec`),
      ]
    }),
    ...volumes.flatMap((volume) => overlapWarnings(volume, budget)),
  ]
}

interface Place {
  readonly path: string
  readonly source: string
}

const placesOf = (items: unknown, source: string): readonly Place[] =>
  asJsonObjects(items).map(({ path }) => ({ path: asString(path), source }))

function overlapWarnings(volume: JsonObject, budget: Budget): readonly string[] {
  const { name, configMap, secret, downwardAPI, projected } = volume
  const overlapWarning = (what: string, places: readonly Place[]): readonly string[] =>
    overlaps(places, budget).map((text) => `volume ${goQuote(asString(name))} (${what}): overlapping paths: ${text}`)
  const map = asJsonObject(configMap)
  const hidden = asJsonObject(secret)
  const sources = asJsonObjects(asJsonObject(projected)['sources'])
  return [
    ...overlapWarning(`ConfigMap ${goQuote(asString(map['name']))}`, placesOf(map['items'], '')),
    ...overlapWarning(`Secret ${goQuote(asString(hidden['secretName']))}`, placesOf(hidden['items'], '')),
    ...overlapWarning('DownwardAPI', placesOf(valueAtPath(downwardAPI, 'items'), '')),
    ...sources.flatMap((source) =>
      Object.keys(source).length === 0 ? [`volume ${goQuote(asString(name))} (Projected) has no sources provided`] : [],
    ),
    ...overlapWarning('Projected', sources.flatMap(projectedPlaces)),
  ]
}

const named = (what: string, name: unknown): string => `${what} ${goQuote(asString(name))}`

function one(holder: unknown, field: string, source: string): readonly Place[] {
  const path = asString(valueAtPath(holder, field))
  return path ? [{ path, source }] : []
}

function projectedPlaces(source: JsonObject): readonly Place[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const bundle = asJsonObject(clusterTrustBundle)
  return [
    ...placesOf(valueAtPath(configMap, 'items'), named('ConfigMap', valueAtPath(configMap, 'name'))),
    ...placesOf(valueAtPath(secret, 'items'), named('Secret', valueAtPath(secret, 'name'))),
    ...placesOf(valueAtPath(downwardAPI, 'items'), 'DownwardAPI'),
    ...one(serviceAccountToken, 'path', 'ServiceAccountToken'),
    ...one(bundle, 'path', named('ClusterTrustBundle', bundle['name'] ?? bundle['signerName'])),
    ...one(podCertificate, 'certificateChainPath', 'PodCertificate chain'),
    ...one(podCertificate, 'keyPath', 'PodCertificate key'),
    ...one(podCertificate, 'credentialBundlePath', 'PodCertificate credential bundle'),
  ]
}

/** Bounds of the quadratic search for overlapping paths. */
const MAX_REPORTED_OVERLAPS = 128
const MAX_COMPARISONS = 1_000_000

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

/** A regular expression would take quadratic time on many slashes. */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}
