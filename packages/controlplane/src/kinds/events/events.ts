import type { KubeObject } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, qualifiedName, valueAtPath } from '@tenure/kube/model'

import { asNumber, isUnset } from '../../model/json.ts'
import type { Conversion } from '../../registry/types.ts'
import { invalidEach, invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { nameOf } from '../common/columns.ts'
import type { ColumnValues, KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

/** Fields whose name differs: in `events.k8s.io`, and in the core group, which is the stored form. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
]
const TO_CORE = new Map(RENAMED)
const CORE_TO_EVENTS = new Map(RENAMED.map(([renamed, core]) => [core, renamed]))

function renamed(event: JsonObject, names: ReadonlyMap<string, string>, apiVersion: string): JsonObject {
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(event)) result[names.get(key) ?? key] = event[key]
  return { ...result, apiVersion }
}

const conversion: Conversion = {
  toStored: (object) => renamed(object as unknown as JsonObject, TO_CORE, 'v1'),
  fromStored: (object) => renamed(object as unknown as JsonObject, CORE_TO_EVENTS, 'events.k8s.io/v1'),
}

const asCore = (event: JsonObject): JsonObject =>
  event['apiVersion'] === 'events.k8s.io/v1' ? renamed(event, TO_CORE, 'v1') : event

const eventColumns: ColumnValues = (given, age) => {
  const event = asCore(given)
  const { firstTimestamp, lastTimestamp, eventTime, series, count } = event
  const first = age(firstTimestamp ?? eventTime)
  const isSeries = isJsonObject(series)
  const last = isSeries ? age(series['lastObservedTime']) : isUnset(lastTimestamp) ? first : age(lastTimestamp)
  const times = isSeries ? asNumber(series['count']) : asNumber(count) || 1
  const target = asJsonObject(event['involvedObject'])
  const kind = asString(target['kind']).toLowerCase()
  const component = asString(valueAtPath(event, 'source', 'component')) || asString(event['reportingComponent'])
  const instance = asString(valueAtPath(event, 'source', 'host')) || asString(event['reportingInstance'])
  return [
    last,
    asString(event['type']),
    asString(event['reason']),
    target['name'] ? `${kind}/${asString(target['name'])}` : kind,
    asString(target['fieldPath']),
    instance ? `${component}, ${instance}` : component,
    asString(event['message']).trim(),
    first,
    times,
    nameOf(event),
  ]
}

const NAMESPACE_MISMATCH = 'does not match event.namespace'

/** Validates an event of either group; `controller` is the name of the reporting controller's field. */
function validateEvent(event: JsonObject, controller: string): FieldError[] {
  const namespace = asString(valueAtPath(event, 'metadata', 'namespace'))
  const involved = asString(valueAtPath(event, 'involvedObject', 'namespace'))
  const field = 'involvedObject.namespace'
  if (isUnset(event['eventTime'])) {
    const fits = involved ? involved === namespace : namespace === '' || namespace === 'default'
    return fits ? [] : [invalidValue(field, involved, NAMESPACE_MISMATCH)]
  }
  const errors: FieldError[] = []
  if (!involved && namespace !== 'default' && namespace !== 'kube-system') {
    errors.push(invalidValue(field, involved, NAMESPACE_MISMATCH))
  }
  const reporter = asString(event['reportingComponent'])
  if (!reporter) errors.push(required(controller))
  errors.push(...invalidEach(controller, reporter, qualifiedName(reporter)))
  for (const name of ['reportingInstance', 'action', 'reason']) {
    const text = asString(event[name])
    if (!text) errors.push(required(name))
    if (text.length > 128) errors.push(invalidValue(name, '', 'can have at most 128 characters'))
  }
  if (asString(event['message']).length > 1024) {
    errors.push(invalidValue('message', '', 'can have at most 1024 characters'))
  }
  return errors
}

function validateNewEvent(event: JsonObject): FieldError[] {
  const errors = validateEvent(event, 'reportingController')
  const { series, type, eventTime } = event
  if (isJsonObject(series)) {
    if (asNumber(series['count']) < 2) errors.push(invalidValue('series.count', '', 'should be at least 2'))
    if (isUnset(series['lastObservedTime'])) errors.push(required('series.lastObservedTime'))
  }
  if (isUnset(eventTime)) errors.push(required('eventTime'))
  if (type !== 'Normal' && type !== 'Warning') {
    errors.push(invalidValue('type', '', `has invalid value: ${asString(type)}`))
  }
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count']) {
    if (!isUnset(event[field])) errors.push(invalidValue(field, '', 'needs to be unset'))
  }
  if (Object.keys(asJsonObject(event['source'])).length > 0)
    errors.push(invalidValue('source', '', 'needs to be unset'))
  return errors
}

const IMMUTABLE_FIELDS = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
]
const IMMUTABLE_NEW_FIELDS = ['eventTime', 'action', 'related', 'reportingInstance']

const involved =
  (field: string) =>
  (event: KubeObject): string =>
    asString(valueAtPath(asCore(event as unknown as JsonObject), 'involvedObject', field))

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const reason = (event: KubeObject): string => asString(valueAtPath(event, 'reason'))
const type = (event: KubeObject): string => asString(valueAtPath(event, 'type'))
const reporting = (event: KubeObject): string =>
  asString(valueAtPath(asCore(event as unknown as JsonObject), 'reportingComponent'))

const selectableFields = {
  ...Object.fromEntries(REFERENCE.map((field) => [`involvedObject.${field}`, involved(field)])),
  reason,
  reportingComponent: reporting,
  source: (event: KubeObject) => {
    const core = asCore(event as unknown as JsonObject)
    return asString(valueAtPath(core, 'source', 'component')) || asString(core['reportingComponent'])
  },
  type,
}

/** The same fields under their names in `events.k8s.io`, which has no `source`. */
const newerSelectableFields = {
  ...Object.fromEntries(REFERENCE.map((field) => [`regarding.${field}`, involved(field)])),
  reason,
  reportingController: reporting,
  type,
}

const shared = { generation: false, allowsCreateOnUpdate: true } as const

/** Events of both groups, in one storage bucket. */
export const EVENTS: KindTable = {
  events: {
    columns: eventColumns,
    rules: { ...shared, selectableFields, validate: (event) => validateEvent(event, 'reportingComponent') },
  },
  'events.events.k8s.io': {
    bucket: 'events',
    conversion,
    columns: eventColumns,
    rules: {
      ...shared,
      selectableFields: newerSelectableFields,
      validate: (event) => validateNewEvent(asCore(event)),
      validateChange: (event, old) => {
        const [next, before] = [asCore(event), asCore(old)]
        const fields = [...IMMUTABLE_FIELDS, ...IMMUTABLE_NEW_FIELDS].flatMap((field) =>
          unchanged(field, next[field], before[field]),
        )
        return [
          ...fields,
          ...unchanged('reportingController', next['reportingComponent'], before['reportingComponent']),
        ]
      },
    },
  },
}
