import type { Json } from '../../../model/json.ts'
import {
  asJson,
  asJsons,
  asText,
  at,
  isAbsent,
  isJson,
  isSemanticallyEqual,
  withField,
  withinField,
} from '../../../model/json.ts'
import { forbidden, immutable, invalidStruct } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { replacementLabel } from '../../common/deprecated-labels.ts'
import { unchanged } from '../../common/labels.ts'
import { compareQuantities } from '../../common/quantity.ts'
import { SOURCES, validateVolumeSpec } from './persistent-volume-validation.ts'
import { CLASS_ANNOTATION } from './volume-warnings.ts'

export function validateClaimChange(claim: Json, old: Json): FieldError[] {
  const [spec, before] = [asJson(claim['spec']), asJson(old['spec'])]
  const errors = validateClassChange(claim, old)
  if (!isSemanticallyEqual({ ...spec, ...allowedOf(claim, old) }, before)) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n'
    errors.push(forbidden('spec', detail))
  }
  const [size, was] = [at(spec, 'resources', 'requests', 'storage'), at(before, 'resources', 'requests', 'storage')]
  const held = at(old, 'status', 'capacity', 'storage')
  if (compareQuantities(size, was) < 0 && compareQuantities(size, held ?? '0') <= 0) {
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'))
  }
  return [...errors, ...unchanged('volumeMode', spec['volumeMode'], before['volumeMode'])]
}

/** The old values of the fields of a claim that may change. */
function allowedOf(claim: Json, old: Json): Json {
  const [spec, before] = [asJson(claim['spec']), asJson(old['spec'])]
  const annotated = at(old, 'metadata', 'annotations', CLASS_ANNOTATION)
  const { volumeName, storageClassName, volumeAttributesClassName } = before
  const isNamed = !isAbsent(spec['storageClassName']) && isAbsent(storageClassName)
  const isBound = at(claim, 'status', 'phase') === 'Bound'
  const requests = asJson(at(spec, 'resources', 'requests'))
  const storage = at(before, 'resources', 'requests', 'storage')
  return {
    ...(!volumeName && { volumeName }),
    ...(isNamed && (annotated === undefined || annotated === spec['storageClassName']) && { storageClassName }),
    ...(isBound && {
      volumeAttributesClassName,
      resources: { ...asJson(spec['resources']), requests: { ...requests, storage } },
    }),
  }
}

function validateClassChange(claim: Json, old: Json): FieldError[] {
  const [now, before] = [claim, old].map((one) => asText(at(one, 'metadata', 'annotations', CLASS_ANNOTATION)))
  if (now === before) return []
  // The class may move from the annotation to the field.
  const isMoved =
    !now && isAbsent(at(old, 'spec', 'storageClassName')) && at(claim, 'spec', 'storageClassName') === before
  return isMoved ? [] : [immutable(`metadata.annotations.${CLASS_ANNOTATION}`, now)]
}

const sourceOf = (spec: Json): Json => Object.fromEntries(SOURCES.map((name) => [name, spec[name]]))

export function validateVolumeChange(spec: Json, old: Json): FieldError[] {
  // kube-apiserver validates the spec twice and reports each error twice.
  const errors = validateVolumeSpec(spec)
  // controllerExpandSecretRef may be added later.
  const compared = isAbsent(at(old, 'csi', 'controllerExpandSecretRef'))
    ? withinField(spec, 'csi', (csi) => withField(csi, 'controllerExpandSecretRef', undefined))
    : spec
  if (!isSemanticallyEqual(sourceOf(compared), sourceOf(old))) {
    const detail = 'spec.persistentvolumesource is immutable after creation\n'
    errors.push(forbidden('spec.persistentvolumesource', detail))
  }
  errors.push(...unchanged('volumeMode', spec['volumeMode'], old['volumeMode']))
  if (isJson(old['nodeAffinity']) && !isSameReach(spec['nodeAffinity'], old['nodeAffinity'])) {
    const detail = 'field is immutable, except for updating from beta label to GA'
    errors.push(invalidStruct('nodeAffinity', shownReach(spec['nodeAffinity']), detail))
  }
  if (!isAbsent(old['volumeAttributesClassName']) && isAbsent(spec['volumeAttributesClassName'])) {
    const detail = 'update from non-nil value to nil is forbidden'
    errors.push(forbidden('spec.volumeAttributesClassName', detail))
  }
  return errors
}

const termsOf = (affinity: unknown): readonly Json[] => asJsons(at(affinity, 'required', 'nodeSelectorTerms'))

const renamed = (expression: Json, now: Json | undefined): Json =>
  now && replacementLabel(asText(expression['key'])) === now['key'] ? { ...expression, key: now['key'] } : expression

/** Compares node affinity; a deprecated label may be replaced by its successor. */
function isSameReach(affinity: unknown, old: Json): boolean {
  const terms = termsOf(affinity)
  const before = termsOf(old).map((term, index) => {
    const lists = ['matchExpressions', 'matchFields'].map((list) => {
      const next = asJsons(terms[index]?.[list])
      return [list, asJsons(term[list]).map((expression, place) => renamed(expression, next[place]))]
    })
    return Object.fromEntries(lists) as Json
  })
  return isJson(affinity) && isSemanticallyEqual(terms, before)
}

/** The structs as Go prints them. */
const shownExpressions = (list: unknown): readonly Json[] | null =>
  Array.isArray(list)
    ? asJsons(list).map(({ key, operator, values }) => ({
        Key: key ?? '',
        Operator: operator ?? '',
        Values: values ?? null,
      }))
    : null

function shownReach(affinity: unknown): Json | null {
  if (!isJson(affinity)) return null
  const terms = termsOf(affinity).map(({ matchExpressions, matchFields }) => ({
    MatchExpressions: shownExpressions(matchExpressions),
    MatchFields: shownExpressions(matchFields),
  }))
  return { Required: isJson(affinity['required']) ? { NodeSelectorTerms: terms } : null }
}
