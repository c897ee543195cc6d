import type { LabelSelector } from '@tenure/kube'

import type { FieldError } from '../../schema/types.ts'
import { forbiddenField, invalidStruct, invalidValue, notSupported, required } from './field-errors.ts'
import type { Json } from '../../model/json.ts'
import { asJson, asNumber, at, isJson, isUnset, withinField } from '../../model/json.ts'
import { containerCells, createdAt, nameOf } from './columns.ts'
import { validatePodTemplate } from '../core/pod/pod-validation.ts'
import { isEmptySelector, matcherOf, validateSelector } from './selectors.ts'

/** What kinds with a selector and a template have in common. */

export const specOf = (object: Json): Json => asJson(object['spec'])
export const selectorOf = (spec: Json): LabelSelector | undefined =>
  isJson(spec['selector']) ? spec['selector'] : undefined
export const REPLICAS = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas' }

export const inSpec =
  (change: (spec: Json) => Json) =>
  (object: Json): Json =>
    withinField(object, 'spec', change)
export const count = (object: Json, field: string): number => asNumber(at(object, 'status', field))
export const templateCells = (object: Json): [string, string] => containerCells(at(object, 'spec', 'template', 'spec'))

export const NOT_MATCHING = '`selector` does not match template `labels`'

/** A template that must be what the selector selects. */
export function validateSelectedTemplate(
  template: Json,
  matches: (labels: unknown) => boolean,
  field: string,
): FieldError[] {
  const labels = at(template, 'metadata', 'labels')
  const wrong = matches(labels) ? [] : [invalidValue(`${field}.metadata.labels`, labels ?? null, NOT_MATCHING)]
  return [...wrong, ...validatePodTemplate(template, field)]
}

export function validateAlwaysRestarts(spec: Json, kind: string): FieldError[] {
  const wrong: FieldError[] = []
  const policy = at(spec, 'template', 'spec', 'restartPolicy')
  if (policy !== 'Always') wrong.push(notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always']))
  if (!isUnset(at(spec, 'template', 'spec', 'activeDeadlineSeconds'))) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`
    wrong.push(forbiddenField('spec.template.spec.activeDeadlineSeconds', detail))
  }
  return wrong
}

/** Selector and template, as Deployments, ReplicaSets and StatefulSets need them. */
export function validateSelection(spec: Json, kind: string, unusable: string): FieldError[] {
  const wrong: FieldError[] = []
  const selector = selectorOf(spec)
  if (!selector) wrong.push(required('spec.selector'))
  else {
    wrong.push(...validateSelector(selector, 'spec.selector'))
    if (isEmptySelector(selector)) {
      wrong.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind.toLowerCase()}`))
    }
  }
  const matches = matcherOf(selector)
  if (!matches) return [...wrong, invalidStruct('spec.selector', selector, unusable)]
  const template = asJson(spec['template'])
  wrong.push(...validateSelectedTemplate(template, matches, 'spec.template'))
  return [...wrong, ...validateAlwaysRestarts(spec, kind)]
}

export function replicaCells(object: Json, age: (time: unknown) => string): unknown[] {
  const desired = asNumber(at(object, 'spec', 'replicas'))
  return [nameOf(object), desired, count(object, 'replicas'), count(object, 'readyReplicas'), age(createdAt(object))]
}
