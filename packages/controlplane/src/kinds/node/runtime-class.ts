import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asText, at, isJson, repeats } from '../../model/json.ts'
import { duplicateStruct, invalidEach, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { deprecatedLabel } from '../common/deprecated-labels.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged, validateLabels } from '../common/labels.ts'
import { dnsLabel } from '../common/names.ts'
import { validateResources } from '../core/pod/container-validation.ts'
import { validateTolerations } from '../core/pod/pod-validation.ts'

export const NODE: KindTable = {
  'runtimeclasses.node.k8s.io': {
    columns: (runtime, age) => [nameOf(runtime), asText(runtime['handler']), age(createdAt(runtime))],
    rules: {
      generation: false,
      allowsCreateOnUpdate: true,
      warnings: warningsForRuntimeClass,
      validate: validateRuntimeClass,
      validateChange: (runtime, old) => unchanged('handler', runtime['handler'] ?? '', old['handler']),
    },
  },
}

function validateRuntimeClass(runtime: Json): FieldError[] {
  const { overhead, scheduling } = runtime
  const handler = asText(runtime['handler'])
  return [
    ...(handler ? invalidEach('handler', handler, dnsLabel(handler)) : [required('handler')]),
    // kube-apiserver validates the overhead as the limits of a container.
    ...(isJson(overhead) ? validateResources({ limits: overhead['podFixed'] }, 'overhead') : []),
    ...(isJson(scheduling) ? validateScheduling(scheduling, 'scheduling') : []),
  ]
}

function warningsForRuntimeClass(runtime: Json): readonly string[] {
  return Object.keys(asJson(at(runtime, 'scheduling', 'nodeSelector'))).flatMap((name) => {
    const former = deprecatedLabel(name)
    return former === undefined ? [] : [`scheduling.nodeSelector: ${former}`]
  })
}

function validateScheduling(scheduling: Json, field: string): FieldError[] {
  const tolerations = asJsons(scheduling['tolerations'])
  const place = `${field}.tolerations`
  const ids = tolerations.map((one) => JSON.stringify({ ...shown(one), TolerationSeconds: null }))
  return [
    ...validateLabels(asJson(scheduling['nodeSelector']), `${field}.nodeSelector`),
    ...validateTolerations(tolerations, place),
    ...[...repeats(ids)].map((index) => duplicateStruct(`${place}[${index}]`, shown(asJson(tolerations[index])))),
  ]
}

/** The struct as Go prints it. */
const shown = ({ key, operator, value, effect, tolerationSeconds }: Json): Json => ({
  Key: key ?? '',
  Operator: operator ?? '',
  Value: value ?? '',
  Effect: effect ?? '',
  TolerationSeconds: tolerationSeconds ?? null,
})
