import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import {
  asJsonObjects,
  asNumber,
  filled,
  filledUnset,
  isSemanticallyEqual,
  isUnset,
  withField,
  withinField,
  withinItems,
} from '../../model/json.ts'
import { forbidden, invalidEach, invalidStruct, invalidValue, notNegative } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateIntOrPercent } from '../common/int-or-percent.ts'
import type { KindTable } from '../common/kind-table.ts'
import { count, inSpec, REPLICAS, specOf, templateColumns, validateSelection } from '../common/pod-template.ts'
import { defaultPodTemplate } from '../core/pod/pod-defaults.ts'
import { warningsForPods } from '../core/pod/pod-warnings.ts'
import { defaultClaim } from '../core/volume/persistent-volume-claim.ts'
import { claimWarnings } from '../core/volume/volume-warnings.ts'

export const STATEFUL_SETS: KindTable = {
  'statefulsets.apps': {
    scale: REPLICAS,
    columns: (object, age) => [
      nameOf(object),
      `${count(object, 'readyReplicas')}/${asNumber(valueAtPath(object, 'spec', 'replicas'))}`,
      age(createdAt(object)),
      ...templateColumns(object),
    ],
    rules: {
      newStatus: { replicas: 0, availableReplicas: 0 },
      defaults: inSpec(defaultStatefulSet),
      warnings: warningsForStatefulSet,
      validate: validateStatefulSet,
      validateUpdate: validateStatefulSetUpdate,
    },
  },
}

const ALL_REVISIONS =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
const warningsForPodsOfSet = warningsForPods('spec', 'template')

function warningsForStatefulSet(object: JsonObject, old: JsonObject | undefined): readonly string[] {
  const spec = specOf(object)
  return [
    ...warningsForPodsOfSet(object, old),
    // On update kube-apiserver reports the field as `.Spec`.
    ...asJsonObjects(spec['volumeClaimTemplates']).flatMap((claim, index) =>
      claimWarnings(asJsonObject(claim['spec']), `spec.volumeClaimTemplates[${index}]${old ? '.Spec' : ''}`),
    ),
    ...(asNumber(spec['revisionHistoryLimit']) < 0 ? [ALL_REVISIONS] : []),
  ]
}

function defaultStatefulSet(given: JsonObject): JsonObject {
  let spec = withinField(given, 'template', defaultPodTemplate)
  spec = withinItems(spec, 'volumeClaimTemplates', (claim) =>
    defaultClaim(filled(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' })),
  )
  spec = filledUnset(spec, { podManagementPolicy: 'OrderedReady' })
  spec = filled(spec, { replicas: 1, revisionHistoryLimit: 10 })
  const policy = asJsonObject(spec['persistentVolumeClaimRetentionPolicy'])
  spec = withField(
    spec,
    'persistentVolumeClaimRetentionPolicy',
    filledUnset(policy, { whenDeleted: 'Retain', whenScaled: 'Retain' }),
  )
  let strategy = asJsonObject(spec['updateStrategy'])
  if (isUnset(strategy['type'])) strategy = filled({ ...strategy, type: 'RollingUpdate' }, { rollingUpdate: {} })
  if (strategy['type'] === 'RollingUpdate') {
    strategy = withinField(strategy, 'rollingUpdate', (update) => filled(update, { partition: 0 }))
  }
  return withField(spec, 'updateStrategy', strategy)
}

/** The name of a StatefulSet is part of the host names of its pods. */
const MAX_NAME_LENGTH = 63

function validateStatefulSet(object: JsonObject): FieldError[] {
  const spec = specOf(object)
  const errors: FieldError[] = []
  const name = nameOf(object)
  const found = dnsLabel(name)
  // The registry validates the rest of the name.
  if (found.includes('must not contain dots') || name.length > MAX_NAME_LENGTH)
    errors.push(...invalidEach('metadata.name', name, found))
  return [...errors, ...validateSet(spec, validateServiceName(spec))]
}

function validateServiceName({ serviceName }: JsonObject): FieldError[] {
  return serviceName ? invalidEach('spec.serviceName', serviceName, dnsLabel(asString(serviceName))) : []
}

/** Name and service name are immutable, so an update does not validate them. */
function validateSet(spec: JsonObject, ofService: readonly FieldError[] = []): FieldError[] {
  const { podManagementPolicy, updateStrategy } = spec
  const errors: FieldError[] = []
  if (podManagementPolicy !== 'OrderedReady' && podManagementPolicy !== 'Parallel') {
    const detail = "must be 'OrderedReady' or 'Parallel'"
    errors.push(invalidValue('spec.podManagementPolicy', podManagementPolicy, detail))
  }
  const { type, rollingUpdate } = asJsonObject(updateStrategy)
  if (type === 'OnDelete') {
    if (isJsonObject(rollingUpdate)) {
      const shown = {
        Partition: rollingUpdate['partition'] ?? 0,
        MaxUnavailable: rollingUpdate['maxUnavailable'] ?? null,
      }
      const detail = "only allowed for updateStrategy 'RollingUpdate'"
      errors.push(invalidStruct('spec.updateStrategy.rollingUpdate', shown, detail))
    }
  } else if (type === 'RollingUpdate') {
    const { partition, maxUnavailable } = asJsonObject(rollingUpdate)
    errors.push(...notNegative('spec.updateStrategy.rollingUpdate.partition', partition))
    if (maxUnavailable !== undefined) {
      append(errors, validateIntOrPercent(maxUnavailable, 'spec.updateStrategy.rollingUpdate.maxUnavailable'))
    }
  } else {
    const shown = { Type: type ?? '', RollingUpdate: rollingUpdate ?? null }
    errors.push(invalidStruct('spec.updateStrategy', shown, "must be 'RollingUpdate' or 'OnDelete'"))
  }
  errors.push(...notNegative('spec.replicas', spec['replicas']))
  errors.push(...notNegative('spec.minReadySeconds', spec['minReadySeconds']))
  return [...errors, ...ofService, ...validateSelection(withClaimVolumes(spec), 'StatefulSet', '')]
}

/** Adds a volume for each claim template, so that containers may mount it. */
function withClaimVolumes(spec: JsonObject): JsonObject {
  const claims = asJsonObjects(spec['volumeClaimTemplates']).map((claim) =>
    asString(valueAtPath(claim, 'metadata', 'name')),
  )
  return withinField(spec, 'template', (template) =>
    withinField(template, 'spec', (given) => {
      // The StatefulSet sets both.
      const { hostname: _, subdomain: __, ...pod } = given
      const others = asJsonObjects(pod['volumes']).filter(({ name }) => !claims.includes(asString(name)))
      const own = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
      return claims.length > 0 ? { ...pod, volumes: [...own, ...others] } : pod
    }),
  )
}

const STATEFUL_SET_CHANGES = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

function validateStatefulSetUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [specOf(object), specOf(old)]
  const fixed = Object.fromEntries(STATEFUL_SET_CHANGES.map((field) => [field, before[field]]))
  const errors = validateSet(spec)
  if (isSemanticallyEqual({ ...spec, ...fixed }, before)) return errors
  const fields = STATEFUL_SET_CHANGES.map((field) => `'${field}'`)
  const list = `${fields.slice(0, -1).join(', ')} and ${fields.at(-1) ?? ''}`
  return [...errors, forbidden('spec', `updates to statefulset spec for fields other than ${list} are forbidden`)]
}
