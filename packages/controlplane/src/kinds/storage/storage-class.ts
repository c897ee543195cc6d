import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, qualifiedName, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filled, isUnset, repeats } from '../../model/json.ts'
import { duplicate, invalidEach, invalidValue, notSupported, required, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { deprecatedLabel } from '../common/deprecated-labels.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

export const STORAGE_CLASSES: KindTable = {
  'storageclasses.storage.k8s.io': {
    columns: (storage, age) => {
      const annotations = asJsonObject(valueAtPath(storage, 'metadata', 'annotations'))
      const isDefault = [
        'storageclass.kubernetes.io/is-default-class',
        'storageclass.beta.kubernetes.io/is-default-class',
      ].some((key) => annotations[key] === 'true')
      return [
        isDefault ? `${nameOf(storage)} (default)` : nameOf(storage),
        asString(storage['provisioner']),
        asString(storage['reclaimPolicy']) || 'Delete',
        asString(storage['volumeBindingMode']) || 'Immediate',
        storage['allowVolumeExpansion'] === true,
        age(createdAt(storage)),
      ]
    },
    rules: {
      generation: false,
      defaults: (storage) => filled(storage, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
      warnings: warningsForStorageClass,
      validate: validateStorageClass,
      validateChange: (storage, old) =>
        ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
          unchanged(field, storage[field], old[field]),
        ),
      returnsDeletedObject: true,
    },
  },
}

function validateStorageClass(storage: JsonObject): FieldError[] {
  const { provisioner, reclaimPolicy, volumeBindingMode } = storage
  const errors: FieldError[] = []
  // kube-apiserver validates and reports the name in lower case.
  const name = asString(provisioner).toLowerCase()
  if (name) errors.push(...invalidEach('provisioner', name, qualifiedName(name)))
  else errors.push(required('provisioner'))
  append(errors, validateParameters(Object.entries(asJsonObject(storage['parameters']))))
  const policies = ['Delete', 'Retain']
  if (!isUnset(reclaimPolicy) && !policies.includes(asString(reclaimPolicy))) {
    errors.push(notSupported('reclaimPolicy', reclaimPolicy, policies))
  }
  const modes = ['Immediate', 'WaitForFirstConsumer']
  if (!modes.includes(asString(volumeBindingMode)))
    errors.push(notSupported('volumeBindingMode', volumeBindingMode ?? '', modes))
  return [...errors, ...validateTopologies(asJsonObjects(storage['allowedTopologies']))]
}

/** Warns of deprecated node labels, which match no node. */
function warningsForStorageClass(storage: JsonObject): readonly string[] {
  return asJsonObjects(storage['allowedTopologies']).flatMap((topology, index) =>
    asJsonObjects(topology['matchLabelExpressions']).flatMap(({ key }, place) => {
      const former = deprecatedLabel(asString(key))
      const field = `allowedTopologies[${index}].matchLabelExpressions[${place}].key`
      return former === undefined ? [] : [`${field}: ${former}`]
    }),
  )
}

const MAX_PARAMETERS = 512
const MAX_PARAMETERS_BYTES = 256 * 1024

function validateParameters(parameters: readonly (readonly [string, unknown])[]): FieldError[] {
  if (parameters.length > MAX_PARAMETERS) return [tooLong('parameters', MAX_PARAMETERS)]
  const size = parameters.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(asString(value)),
    0,
  )
  return [
    ...parameters.flatMap(([key]) => (key === '' ? [invalidValue('parameters', key, 'field can not be empty.')] : [])),
    ...(size > MAX_PARAMETERS_BYTES ? [tooLong('parameters', MAX_PARAMETERS_BYTES)] : []),
  ]
}

function validateTopologies(topologies: readonly JsonObject[]): FieldError[] {
  // kube-apiserver reports an empty term as a duplicate.
  const seen = new Set([idOf([])])
  return topologies.flatMap((topology, index) => {
    const field = `allowedTopologies[${index}].matchLabelExpressions`
    const expressions = asJsonObjects(topology['matchLabelExpressions'])
    const errors = validateExpressions(expressions, field)
    const id = idOf(expressions)
    if (seen.has(id)) errors.push(duplicate(field, ''))
    seen.add(id)
    return errors
  })
}

const idOf = (expressions: readonly JsonObject[]): string =>
  JSON.stringify(
    expressions
      .map(({ key, values }) => [asString(key), asArray(values).map(asString).toSorted()] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

function validateExpressions(expressions: readonly JsonObject[], field: string): FieldError[] {
  const keys = new Set<string>()
  return expressions.flatMap((expression, index) => {
    const place = `${field}[${index}]`
    const [key, values] = [asString(expression['key']), asArray(expression['values']).map(asString)]
    const errors: FieldError[] = values.length === 0 ? [required(`${place}.values`)] : []
    for (const at of repeats(values)) errors.push(duplicate(`${place}.values[${at}]`, values[at]))
    errors.push(...invalidEach(`${place}.key`, key, qualifiedName(key)))
    if (keys.has(key)) errors.push(duplicate(`${place}.key`, key))
    keys.add(key)
    return errors
  })
}
