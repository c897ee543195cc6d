import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects, isAbsent, isSemanticallyEqual, withField, withinField } from '../../../model/json.ts'
import { forbidden, immutable, invalidStruct } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { replacementLabel } from '../../common/deprecated-labels.ts'
import { unchanged } from '../../common/labels.ts'
import { compareQuantityValues } from '../../common/quantity.ts'
import { SOURCES, validateVolumeSpec } from './persistent-volume-validation.ts'
import { CLASS_ANNOTATION } from './volume-warnings.ts'

export function validateClaimChange(claim: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [asJsonObject(claim['spec']), asJsonObject(old['spec'])]
  const errors = validateClassChange(claim, old)
  if (!isSemanticallyEqual({ ...spec, ...allowedOf(claim, old) }, before)) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n'
    errors.push(forbidden('spec', detail))
  }
  const [size, was] = [
    valueAtPath(spec, 'resources', 'requests', 'storage'),
    valueAtPath(before, 'resources', 'requests', 'storage'),
  ]
  const held = valueAtPath(old, 'status', 'capacity', 'storage')
  if (compareQuantityValues(size, was) < 0 && compareQuantityValues(size, held ?? '0') <= 0) {
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'))
  }
  return [...errors, ...unchanged('volumeMode', spec['volumeMode'], before['volumeMode'])]
}

/** The old values of the fields of a claim that may change. */
function allowedOf(claim: JsonObject, old: JsonObject): JsonObject {
  const [spec, before] = [asJsonObject(claim['spec']), asJsonObject(old['spec'])]
  const annotated = valueAtPath(old, 'metadata', 'annotations', CLASS_ANNOTATION)
  const { volumeName, storageClassName, volumeAttributesClassName } = before
  const isNamed = !isAbsent(spec['storageClassName']) && isAbsent(storageClassName)
  const isBound = valueAtPath(claim, 'status', 'phase') === 'Bound'
  const requests = asJsonObject(valueAtPath(spec, 'resources', 'requests'))
  const storage = valueAtPath(before, 'resources', 'requests', 'storage')
  return {
    ...(!volumeName && { volumeName }),
    ...(isNamed && (annotated === undefined || annotated === spec['storageClassName']) && { storageClassName }),
    ...(isBound && {
      volumeAttributesClassName,
      resources: { ...asJsonObject(spec['resources']), requests: { ...requests, storage } },
    }),
  }
}

function validateClassChange(claim: JsonObject, old: JsonObject): FieldError[] {
  const [now, before] = [claim, old].map((one) =>
    asString(valueAtPath(one, 'metadata', 'annotations', CLASS_ANNOTATION)),
  )
  if (now === before) return []
  // The class may move from the annotation to the field.
  const isMoved =
    !now &&
    isAbsent(valueAtPath(old, 'spec', 'storageClassName')) &&
    valueAtPath(claim, 'spec', 'storageClassName') === before
  return isMoved ? [] : [immutable(`metadata.annotations.${CLASS_ANNOTATION}`, now)]
}

const sourceOf = (spec: JsonObject): JsonObject => Object.fromEntries(SOURCES.map((name) => [name, spec[name]]))

export function validateVolumeChange(spec: JsonObject, old: JsonObject): FieldError[] {
  // kube-apiserver validates the spec twice and reports each error twice.
  const errors = validateVolumeSpec(spec)
  // controllerExpandSecretRef may be added later.
  const compared = isAbsent(valueAtPath(old, 'csi', 'controllerExpandSecretRef'))
    ? withinField(spec, 'csi', (csi) => withField(csi, 'controllerExpandSecretRef', undefined))
    : spec
  if (!isSemanticallyEqual(sourceOf(compared), sourceOf(old))) {
    const detail = 'spec.persistentvolumesource is immutable after creation\n'
    errors.push(forbidden('spec.persistentvolumesource', detail))
  }
  append(errors, unchanged('volumeMode', spec['volumeMode'], old['volumeMode']))
  if (isJsonObject(old['nodeAffinity']) && !isSameReach(spec['nodeAffinity'], old['nodeAffinity'])) {
    const detail = 'field is immutable, except for updating from beta label to GA'
    errors.push(invalidStruct('nodeAffinity', shownReach(spec['nodeAffinity']), detail))
  }
  if (!isAbsent(old['volumeAttributesClassName']) && isAbsent(spec['volumeAttributesClassName'])) {
    const detail = 'update from non-nil value to nil is forbidden'
    errors.push(forbidden('spec.volumeAttributesClassName', detail))
  }
  return errors
}

const termsOf = (affinity: unknown): readonly JsonObject[] =>
  asJsonObjects(valueAtPath(affinity, 'required', 'nodeSelectorTerms'))

const renamed = (expression: JsonObject, now: JsonObject | undefined): JsonObject =>
  now && replacementLabel(asString(expression['key'])) === now['key'] ? { ...expression, key: now['key'] } : expression

/** Compares node affinity; a deprecated label may be replaced by its successor. */
function isSameReach(affinity: unknown, old: JsonObject): boolean {
  const terms = termsOf(affinity)
  const before = termsOf(old).map((term, index) => {
    const lists = ['matchExpressions', 'matchFields'].map((list) => {
      const next = asJsonObjects(terms[index]?.[list])
      return [list, asJsonObjects(term[list]).map((expression, place) => renamed(expression, next[place]))]
    })
    return Object.fromEntries(lists) as JsonObject
  })
  return isJsonObject(affinity) && isSemanticallyEqual(terms, before)
}

/** The structs as Go prints them. */
const shownExpressions = (list: unknown): readonly JsonObject[] | null =>
  Array.isArray(list)
    ? asJsonObjects(list).map(({ key, operator, values }) => ({
        Key: key ?? '',
        Operator: operator ?? '',
        Values: values ?? null,
      }))
    : null

function shownReach(affinity: unknown): JsonObject | null {
  if (!isJsonObject(affinity)) return null
  const terms = termsOf(affinity).map(({ matchExpressions, matchFields }) => ({
    MatchExpressions: shownExpressions(matchExpressions),
    MatchFields: shownExpressions(matchFields),
  }))
  return { Required: isJsonObject(affinity['required']) ? { NodeSelectorTerms: terms } : null }
}
