import { STANDARD_FINALIZERS } from '../../registry/metadata.ts'
import type { FieldError } from '../../schema/types.ts'
import { invalidEach, invalidValue } from '../common/field-errors.ts'
import type { Json } from '../../model/json.ts'
import { asList, asText, at } from '../../model/json.ts'
import { qualifiedName } from '../common/names.ts'

/** What a namespace waits for has a name that says whose it is. */
export function validateNamespaceFinalizers(object: Json): FieldError[] {
  return asList(at(object, 'spec', 'finalizers')).flatMap((finalizer, index) => {
    const field = `spec.finalizers[${index}]`
    const name = asText(finalizer)
    const wrong = qualifiedName(name)
    if (wrong.length > 0) return invalidEach(field, name, wrong)
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return []
    return [invalidValue(field, name, 'name is neither a standard finalizer name nor is it fully qualified')]
  })
}

/** Whether a namespace ends is decided by who deletes it, and by nobody else. */
export function validateNamespacePhase(object: Json): FieldError[] {
  const isEnding = at(object, 'metadata', 'deletionTimestamp') !== undefined
  const phase = asText(at(object, 'status', 'phase'))
  const [right, when] = isEnding ? ['Terminating', 'not empty'] : ['Active', 'empty']
  if (phase === right) return []
  return [invalidValue('status.Phase', phase, `may only be '${right}' if \`deletionTimestamp\` is ${when}`)]
}
