import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, dnsSubdomain, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { isAbsent, isUnset } from '../../../model/json.ts'
import { forbidden, invalidEach, invalidValue, notSupported, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { isNegative, isZero, nanosOf } from '../../common/quantity.ts'
import { validateNodeSelector } from '../pod/affinity-validation.ts'
import { validateHostPath } from './volume-validation.ts'

const MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
]

export const VOLUME_MODES = ['Block', 'Filesystem']

export function validateModes(modes: readonly unknown[], field: string): FieldError[] {
  const errors = modes.flatMap((mode) => (MODES.includes(asString(mode)) ? [] : [notSupported(field, mode, MODES)]))
  const known = modes.filter((mode) => MODES.includes(asString(mode)))
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod')) {
    errors.push(forbidden(field, 'may not use ReadWriteOncePod with other access modes'))
  }
  return errors
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

const needs = (source: JsonObject, field: string, ...names: readonly string[]): FieldError[] =>
  names.flatMap((name) => (source[name] ? [] : [required(`${field}.${name}`)]))

/** Validation of each volume source. */
const SOURCE_RULES: Readonly<Record<string, (source: JsonObject, field: string) => FieldError[]>> = {
  hostPath: (source, field) => {
    const type = asString(source['type'])
    const isKnown = HOST_PATH_TYPES.includes(type)
    return [
      ...validateHostPath(source, field),
      ...(isKnown ? [] : [notSupported(`${field}.type`, type, HOST_PATH_TYPES)]),
    ]
  },
  nfs: (source, field) => {
    const path = asString(source['path'])
    const isAbsolute = path.startsWith('/')
    return [
      ...needs(source, field, 'server', 'path'),
      ...(isAbsolute ? [] : [invalidValue(`${field}.path`, path, 'must be an absolute path')]),
    ]
  },
  local: (source, field) => needs(source, field, 'path'),
  csi: (source, field) => {
    const driver = asString(source['driver'])
    const named = driver ? invalidEach(`${field}.driver`, driver, dnsSubdomain(driver)) : [required(`${field}.driver`)]
    return [...named, ...needs(source, field, 'volumeHandle')]
  },
  iscsi: (source, field) => needs(source, field, 'targetPortal', 'iqn'),
  fc: (source, field) => {
    const hasNames = asArray(source['targetWWNs']).length > 0
    if (hasNames !== asArray(source['wwids']).length > 0) return []
    return [required(`${field}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
  },
}

function validateReach(affinity: JsonObject, field: string): FieldError[] {
  const { required: needed } = affinity
  if (isJsonObject(needed)) return validateNodeSelector(needed, `${field}.required`)
  return [required(`${field}.required`, 'must specify required node constraints')]
}

export function validateVolumeSpec(spec: JsonObject): FieldError[] {
  const modes = asArray(spec['accessModes'])
  const capacity = asJsonObject(spec['capacity'])
  const errors: FieldError[] = []
  if (modes.length === 0) errors.push(required('spec.accessModes'))
  append(errors, validateModes(modes, 'spec.accessModes'))
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'))
  if (!Object.hasOwn(capacity, 'storage') || Object.keys(capacity).length > 1) {
    errors.push(notSupported('spec.capacity', spec['capacity'] ?? null, ['storage']))
  }
  for (const [name, quantity] of Object.entries(capacity)) {
    if (isNegative(quantity)) {
      // kube-apiserver reports a number here.
      const whole = Number(nanosOf(quantity) / 1_000_000_000n)
      errors.push(invalidValue(`spec.capacity[${name}]`, whole, 'must be a valid resource quantity'))
    }
    if (isZero(quantity) || isNegative(quantity)) {
      errors.push(invalidValue(`spec.capacity[${name}]`, quantity, 'must be greater than zero'))
    }
  }
  const policies = ['Delete', 'Recycle', 'Retain']
  const policy = spec['persistentVolumeReclaimPolicy']
  if (!isUnset(policy) && !policies.includes(asString(policy))) {
    errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, policies))
  }
  const sources = SOURCES.filter((source) => isJsonObject(spec[source]))
  for (const source of sources.slice(1)) {
    errors.push(forbidden(`spec.${source}`, 'may not specify more than 1 volume type'))
  }
  const [source] = sources
  if (source) append(errors, SOURCE_RULES[source]?.(asJsonObject(spec[source]), `spec.${source}`) ?? [])
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'))
  if (policy === 'Recycle' && valueAtPath(spec, 'hostPath', 'path') === '/') {
    const detail = "may not be 'recycle' for a hostPath mount of '/'"
    errors.push(forbidden('spec.persistentVolumeReclaimPolicy', detail))
  }
  const { storageClassName, volumeMode, nodeAffinity } = spec
  if (storageClassName) {
    errors.push(...invalidEach('spec.storageClassName', storageClassName, dnsSubdomain(asString(storageClassName))))
  }
  if (!isUnset(volumeMode) && !VOLUME_MODES.includes(asString(volumeMode))) {
    errors.push(notSupported('spec.volumeMode', volumeMode, VOLUME_MODES))
  }
  if (isJsonObject(nodeAffinity)) append(errors, validateReach(nodeAffinity, 'spec.nodeAffinity'))
  else if (source === 'local') {
    errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'))
  }
  return [...errors, ...validateAttributes(spec)]
}

function validateAttributes({ volumeAttributesClassName: name, csi }: JsonObject): FieldError[] {
  if (isAbsent(name)) return []
  const field = 'spec.volumeAttributesClassName'
  return [
    ...(name === ''
      ? [required(field, 'an empty string is disallowed')]
      : invalidEach(field, name, dnsSubdomain(asString(name)))),
    ...(isJsonObject(csi) ? [] : [required('spec.csi', 'has to be specified when using volumeAttributesClassName')]),
  ]
}
