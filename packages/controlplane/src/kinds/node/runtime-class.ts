import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, repeats } from '../../model/json.ts'
import { duplicateStruct, invalidEach, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { deprecatedLabel } from '../common/deprecated-labels.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged, validateLabels } from '../common/labels.ts'
import { validateResources } from '../core/pod/container-validation.ts'
import { validateTolerations } from '../core/pod/pod-validation.ts'

export const NODE: KindTable = {
  'runtimeclasses.node.k8s.io': {
    columns: (runtime, age) => [nameOf(runtime), asString(runtime['handler']), age(createdAt(runtime))],
    rules: {
      generation: false,
      allowsCreateOnUpdate: true,
      warnings: warningsForRuntimeClass,
      validate: validateRuntimeClass,
      validateChange: (runtime, old) => unchanged('handler', runtime['handler'] ?? '', old['handler']),
    },
  },
}

function validateRuntimeClass(runtime: JsonObject): FieldError[] {
  const { overhead, scheduling } = runtime
  const handler = asString(runtime['handler'])
  return [
    ...(handler ? invalidEach('handler', handler, dnsLabel(handler)) : [required('handler')]),
    // kube-apiserver validates the overhead as the limits of a container.
    ...(isJsonObject(overhead) ? validateResources({ limits: overhead['podFixed'] }, 'overhead') : []),
    ...(isJsonObject(scheduling) ? validateScheduling(scheduling, 'scheduling') : []),
  ]
}

function warningsForRuntimeClass(runtime: JsonObject): readonly string[] {
  return Object.keys(asJsonObject(valueAtPath(runtime, 'scheduling', 'nodeSelector'))).flatMap((name) => {
    const former = deprecatedLabel(name)
    return former === undefined ? [] : [`scheduling.nodeSelector: ${former}`]
  })
}

function validateScheduling(scheduling: JsonObject, field: string): FieldError[] {
  const tolerations = asJsonObjects(scheduling['tolerations'])
  const place = `${field}.tolerations`
  const ids = tolerations.map((one) => JSON.stringify({ ...shown(one), TolerationSeconds: null }))
  return [
    ...validateLabels(asJsonObject(scheduling['nodeSelector']), `${field}.nodeSelector`),
    ...validateTolerations(tolerations, place),
    ...[...repeats(ids)].map((index) => duplicateStruct(`${place}[${index}]`, shown(asJsonObject(tolerations[index])))),
  ]
}

/** The struct as Go prints it. */
const shown = ({ key, operator, value, effect, tolerationSeconds }: JsonObject): JsonObject => ({
  Key: key ?? '',
  Operator: operator ?? '',
  Value: value ?? '',
  Effect: effect ?? '',
  TolerationSeconds: tolerationSeconds ?? null,
})
