import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asList, asText, at, filled, isUnset, repeats } from '../../model/json.ts'
import { duplicate, invalidEach, invalidValue, notSupported, required, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { deprecatedLabel } from '../common/deprecated-labels.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { qualifiedName } from '../common/names.ts'

export const STORAGE_CLASSES: KindTable = {
  'storageclasses.storage.k8s.io': {
    columns: (storage, age) => {
      const annotations = asJson(at(storage, 'metadata', 'annotations'))
      const isDefault = [
        'storageclass.kubernetes.io/is-default-class',
        'storageclass.beta.kubernetes.io/is-default-class',
      ].some((key) => annotations[key] === 'true')
      return [
        isDefault ? `${nameOf(storage)} (default)` : nameOf(storage),
        asText(storage['provisioner']),
        asText(storage['reclaimPolicy']) || 'Delete',
        asText(storage['volumeBindingMode']) || 'Immediate',
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

function validateStorageClass(storage: Json): FieldError[] {
  const { provisioner, reclaimPolicy, volumeBindingMode } = storage
  const errors: FieldError[] = []
  // kube-apiserver validates and reports the name in lower case.
  const name = asText(provisioner).toLowerCase()
  if (name) errors.push(...invalidEach('provisioner', name, qualifiedName(name)))
  else errors.push(required('provisioner'))
  errors.push(...validateParameters(Object.entries(asJson(storage['parameters']))))
  const policies = ['Delete', 'Retain']
  if (!isUnset(reclaimPolicy) && !policies.includes(asText(reclaimPolicy))) {
    errors.push(notSupported('reclaimPolicy', reclaimPolicy, policies))
  }
  const modes = ['Immediate', 'WaitForFirstConsumer']
  if (!modes.includes(asText(volumeBindingMode)))
    errors.push(notSupported('volumeBindingMode', volumeBindingMode ?? '', modes))
  return [...errors, ...validateTopologies(asJsons(storage['allowedTopologies']))]
}

/** Warns of deprecated node labels, which match no node. */
function warningsForStorageClass(storage: Json): readonly string[] {
  return asJsons(storage['allowedTopologies']).flatMap((topology, index) =>
    asJsons(topology['matchLabelExpressions']).flatMap(({ key }, place) => {
      const former = deprecatedLabel(asText(key))
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
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(asText(value)),
    0,
  )
  return [
    ...parameters.flatMap(([key]) => (key === '' ? [invalidValue('parameters', key, 'field can not be empty.')] : [])),
    ...(size > MAX_PARAMETERS_BYTES ? [tooLong('parameters', MAX_PARAMETERS_BYTES)] : []),
  ]
}

function validateTopologies(topologies: readonly Json[]): FieldError[] {
  // kube-apiserver reports an empty term as a duplicate.
  const seen = new Set([idOf([])])
  return topologies.flatMap((topology, index) => {
    const field = `allowedTopologies[${index}].matchLabelExpressions`
    const expressions = asJsons(topology['matchLabelExpressions'])
    const errors = validateExpressions(expressions, field)
    const id = idOf(expressions)
    if (seen.has(id)) errors.push(duplicate(field, ''))
    seen.add(id)
    return errors
  })
}

const idOf = (expressions: readonly Json[]): string =>
  JSON.stringify(
    expressions
      .map(({ key, values }) => [asText(key), asList(values).map(asText).toSorted()] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

function validateExpressions(expressions: readonly Json[], field: string): FieldError[] {
  const keys = new Set<string>()
  return expressions.flatMap((expression, index) => {
    const place = `${field}[${index}]`
    const [key, values] = [asText(expression['key']), asList(expression['values']).map(asText)]
    const errors: FieldError[] = values.length === 0 ? [required(`${place}.values`)] : []
    for (const at of repeats(values)) errors.push(duplicate(`${place}.values[${at}]`, values[at]))
    errors.push(...invalidEach(`${place}.key`, key, qualifiedName(key)))
    if (keys.has(key)) errors.push(duplicate(`${place}.key`, key))
    keys.add(key)
    return errors
  })
}
