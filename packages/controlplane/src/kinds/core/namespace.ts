import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, qualifiedName, valueAtPath } from '@tenure/kube/model'

import { withField, withinField } from '../../model/json.ts'
import { STANDARD_FINALIZERS } from '../../registry/metadata/metadata.ts'
import { invalidEach, invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'

export const NAMESPACES: KindTable = {
  namespaces: {
    columns: (object, age) => [
      nameOf(object),
      asString(valueAtPath(object, 'status', 'phase')),
      age(createdAt(object)),
    ],
    rules: {
      generation: false,
      defaults: (object) => {
        const name = nameOf(object)
        if (!name) return object
        return withinField(object, 'metadata', (metadata) =>
          asJsonObject(metadata['labels'])[NAMESPACE_LABEL] === name
            ? metadata
            : withField(metadata, 'labels', { ...asJsonObject(metadata['labels']), [NAMESPACE_LABEL]: name }),
        )
      },
      newStatus: { phase: 'Active' },
      validate: validateNamespaceFinalizers,
      validateChange: validateNamespacePhase,
      prepareForCreate: (object) => {
        const finalizers = asArray(valueAtPath(object, 'spec', 'finalizers'))
        const all = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes']
        return withField(object, 'spec', { ...asJsonObject(object['spec']), finalizers: all })
      },
      selectableFields: { 'status.phase': (object) => asString(valueAtPath(object, 'status', 'phase')) },
      returnsDeletedObject: true,
    },
  },
}

/** Validates that finalizers have qualified names. */
function validateNamespaceFinalizers(object: JsonObject): FieldError[] {
  return asArray(valueAtPath(object, 'spec', 'finalizers')).flatMap((finalizer, index) => {
    const field = `spec.finalizers[${index}]`
    const name = asString(finalizer)
    const errors = qualifiedName(name)
    if (errors.length > 0) return invalidEach(field, name, errors)
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return []
    return [invalidValue(field, name, 'name is neither a standard finalizer name nor is it fully qualified')]
  })
}

/** The phase must follow the deletion timestamp. */
function validateNamespacePhase(object: JsonObject): FieldError[] {
  const isEnding = valueAtPath(object, 'metadata', 'deletionTimestamp') !== undefined
  const phase = asString(valueAtPath(object, 'status', 'phase'))
  const [right, when] = isEnding ? ['Terminating', 'not empty'] : ['Active', 'empty']
  if (phase === right) return []
  return [invalidValue('status.Phase', phase, `may only be '${right}' if \`deletionTimestamp\` is ${when}`)]
}
