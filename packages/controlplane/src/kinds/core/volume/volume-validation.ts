import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, isJsonObject } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects } from '../../../model/json.ts'
import { duplicate, forbidden, invalidEach, invalidValue, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { isNegative } from '../../common/quantity.ts'

/** Volume sources with their validation, in the order in which kube-apiserver checks them. */
const SOURCES: readonly (readonly [string, ((source: JsonObject, field: string) => FieldError[])?])[] = [
  ['emptyDir', validateEmptyDir],
  ['hostPath', validateHostPath],
  ['gitRepo'],
  ['gcePersistentDisk'],
  ['awsElasticBlockStore'],
  ['secret', (source, field) => [...needs(source, field, 'secretName'), ...validateItems(source, field)]],
  ['nfs', (source, field) => needs(source, field, 'server', 'path')],
  ['iscsi'],
  ['glusterfs'],
  ['flocker'],
  ['persistentVolumeClaim', (source, field) => needs(source, field, 'claimName')],
  ['rbd'],
  ['cinder'],
  ['cephfs'],
  ['quobyte'],
  ['downwardAPI'],
  ['fc'],
  ['flexVolume'],
  ['configMap', (source, field) => [...needs(source, field, 'name'), ...validateItems(source, field)]],
  ['azureFile'],
  ['vsphereVolume'],
  ['photonPersistentDisk'],
  ['portworxVolume'],
  ['azureDisk'],
  ['storageos'],
  ['projected', validateProjected],
  ['scaleIO'],
  ['csi', (source, field) => needs(source, field, 'driver')],
  ['ephemeral', (source, field) => needs(source, field, 'volumeClaimTemplate')],
  ['image', (source, field) => needs(source, field, 'reference')],
]

/** Adds errors to `errors`; returns the names that containers may mount. */
export function validateVolumes(
  volumes: readonly JsonObject[],
  field: string,
  errors: FieldError[],
): ReadonlySet<string> {
  const names = new Set<string>()
  volumes.forEach((volume, index) => {
    const path = `${field}[${index}]`
    const name = asString(volume['name'])
    const found = validateSource(volume, path)
    if (name) found.push(...invalidEach(`${path}.name`, name, dnsLabel(name)))
    else found.push(required(`${path}.name`))
    if (names.has(name)) found.push(duplicate(`${path}.name`, name))
    if (found.length === 0) names.add(name)
    append(errors, found)
  })
  return names
}

function validateSource(volume: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  let seen = 0
  for (const [name, validate] of SOURCES) {
    const source = volume[name]
    if (!isJsonObject(source)) continue
    if (seen++ > 0) errors.push(forbidden(`${field}.${name}`, 'may not specify more than 1 volume type'))
    else if (validate) append(errors, validate(source, `${field}.${name}`))
  }
  if (seen === 0) errors.push(required(field, 'must specify a volume type'))
  return errors
}

function needs(source: JsonObject, field: string, ...names: readonly string[]): FieldError[] {
  return names.filter((name) => !source[name]).map((name) => required(`${field}.${name}`))
}

function validateEmptyDir({ sizeLimit }: JsonObject, field: string): FieldError[] {
  if (sizeLimit === undefined || !isNegative(sizeLimit)) return []
  return [forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
}

export function validateHostPath(source: JsonObject, field: string): FieldError[] {
  const path = asString(source['path'])
  if (!path) return [required(`${field}.path`)]
  return path.split('/').includes('..') ? [invalidValue(`${field}.path`, path, "must not contain '..'")] : []
}

function validateItems(source: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const mode = source['defaultMode']
  if (typeof mode === 'number' && (mode < 0 || mode > 0o777)) {
    const detail = 'must be a number between 0 and 0777 (octal), both inclusive'
    errors.push(invalidValue(`${field}.defaultMode`, mode, detail))
  }
  asJsonObjects(source['items']).forEach((item, index) => {
    const path = `${field}.items[${index}]`
    append(errors, needs(item, path, 'key', 'path'), validateWithin(asString(item['path']), `${path}.path`))
  })
  return errors
}

/** Validates a relative path that does not leave its directory. */
function validateWithin(path: string, field: string): FieldError[] {
  if (path.startsWith('/')) return [invalidValue(field, path, 'must be a relative path')]
  if (path.split('/').includes('..')) return [invalidValue(field, path, "must not contain '..'")]
  return path.startsWith('..') ? [invalidValue(field, path, "must not start with '..'")] : []
}

function validateProjected(source: JsonObject, field: string): FieldError[] {
  return asJsonObjects(source['sources']).flatMap((projection, index) => {
    const path = `${field}.sources[${index}]`
    const errors: FieldError[] = []
    for (const name of ['secret', 'configMap']) {
      if (isJsonObject(projection[name])) append(errors, needs(projection[name], `${path}.${name}`, 'name'))
    }
    if (isJsonObject(projection['serviceAccountToken'])) {
      const token = projection['serviceAccountToken']
      const seconds = token['expirationSeconds']
      if (typeof seconds === 'number' && seconds < 600) {
        const detail = 'may not specify a duration less than 10 minutes'
        errors.push(invalidValue(`${path}.serviceAccountToken.expirationSeconds`, seconds, detail))
      }
      append(errors, needs(token, `${path}.serviceAccountToken`, 'path'))
    }
    const count = Object.keys(asJsonObject(projection)).length
    if (count > 1) errors.push(forbidden(path, 'may not specify more than 1 volume type per source'))
    return errors
  })
}
