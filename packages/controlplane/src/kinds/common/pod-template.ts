import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asNumber, isUnset, withinField } from '../../model/json.ts'
import { forbidden, invalidStruct, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { validatePodTemplate } from '../core/pod/pod-validation.ts'
import { containerColumns, createdAt, nameOf } from './columns.ts'
import { isEmptySelector, matcherOf, validateSelector } from './selectors.ts'

export const specOf = (object: JsonObject): JsonObject => asJsonObject(object['spec'])
export const selectorOf = (spec: JsonObject): LabelSelector | undefined =>
  isJsonObject(spec['selector']) ? spec['selector'] : undefined
export const REPLICAS = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas' }

export const inSpec =
  (change: (spec: JsonObject) => JsonObject) =>
  (object: JsonObject): JsonObject =>
    withinField(object, 'spec', change)
export const count = (object: JsonObject, field: string): number => asNumber(valueAtPath(object, 'status', field))
export const templateColumns = (object: JsonObject): [string, string] =>
  containerColumns(valueAtPath(object, 'spec', 'template', 'spec'))

export const SELECTOR_MISMATCH = '`selector` does not match template `labels`'

/** Validates a pod template that the selector must match. */
export function validateSelectedTemplate(
  template: JsonObject,
  matches: (labels: unknown) => boolean,
  field: string,
): FieldError[] {
  const labels = valueAtPath(template, 'metadata', 'labels')
  const errors = matches(labels) ? [] : [invalidValue(`${field}.metadata.labels`, labels ?? null, SELECTOR_MISMATCH)]
  return [...errors, ...validatePodTemplate(template, field)]
}

export function validateAlwaysRestarts(spec: JsonObject, kind: string): FieldError[] {
  const errors: FieldError[] = []
  const policy = valueAtPath(spec, 'template', 'spec', 'restartPolicy')
  if (policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always']))
  if (!isUnset(valueAtPath(spec, 'template', 'spec', 'activeDeadlineSeconds'))) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', detail))
  }
  return errors
}

/** Validates selector and template of a Deployment, ReplicaSet or StatefulSet. */
export function validateSelection(spec: JsonObject, kind: string, unusable: string): FieldError[] {
  const errors: FieldError[] = []
  const selector = selectorOf(spec)
  if (!selector) errors.push(required('spec.selector'))
  else {
    append(errors, validateSelector(selector, 'spec.selector'))
    if (isEmptySelector(selector)) {
      errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind.toLowerCase()}`))
    }
  }
  const matches = matcherOf(selector)
  if (!matches) return [...errors, invalidStruct('spec.selector', selector, unusable)]
  const template = asJsonObject(spec['template'])
  append(errors, validateSelectedTemplate(template, matches, 'spec.template'))
  return [...errors, ...validateAlwaysRestarts(spec, kind)]
}

export function replicaColumns(object: JsonObject, age: (time: unknown) => string): unknown[] {
  const desired = asNumber(valueAtPath(object, 'spec', 'replicas'))
  return [nameOf(object), desired, count(object, 'replicas'), count(object, 'readyReplicas'), age(createdAt(object))]
}
