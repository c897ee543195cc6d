import type { KubeObject } from '@tenure/kube'

import type { Conversion } from '../../registry/types.ts'
import type { FieldError } from '../../schema/types.ts'
import { nameOf } from '../common/columns.ts'
import { invalidEach, invalidValue, required } from '../common/field-errors.ts'
import type { Json } from '../../model/json.ts'
import { asJson, asNumber, asText, at, isJson, isUnset } from '../../model/json.ts'
import type { Cells, KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { qualifiedName } from '../common/names.ts'

/** Fields that have another name in `events.k8s.io`: there, and in the core group, as which events are stored. */
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
const FROM_CORE = new Map(RENAMED.map(([renamed, core]) => [core, renamed]))

function renamed(event: Json, names: ReadonlyMap<string, string>, apiVersion: string): Json {
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(event)) result[names.get(key) ?? key] = event[key]
  return { ...result, apiVersion }
}

const conversion: Conversion = {
  toStored: (object) => renamed(object as unknown as Json, TO_CORE, 'v1'),
  fromStored: (object) => renamed(object as unknown as Json, FROM_CORE, 'events.k8s.io/v1'),
}

const asCore = (event: Json): Json =>
  event['apiVersion'] === 'events.k8s.io/v1' ? renamed(event, TO_CORE, 'v1') : event

const eventCells: Cells = (given, age) => {
  const event = asCore(given)
  const { firstTimestamp, lastTimestamp, eventTime, series, count } = event
  const first = age(firstTimestamp ?? eventTime)
  const isSeries = isJson(series)
  const last = isSeries ? age(series['lastObservedTime']) : isUnset(lastTimestamp) ? first : age(lastTimestamp)
  const times = isSeries ? asNumber(series['count']) : asNumber(count) || 1
  const target = asJson(event['involvedObject'])
  const kind = asText(target['kind']).toLowerCase()
  const component = asText(at(event, 'source', 'component')) || asText(event['reportingComponent'])
  const instance = asText(at(event, 'source', 'host')) || asText(event['reportingInstance'])
  return [
    last,
    asText(event['type']),
    asText(event['reason']),
    target['name'] ? `${kind}/${asText(target['name'])}` : kind,
    asText(target['fieldPath']),
    instance ? `${component}, ${instance}` : component,
    asText(event['message']).trim(),
    first,
    times,
    nameOf(event),
  ]
}

const MISPLACED = 'does not match event.namespace'

/** What holds for events of both groups; `controller` is the name of the reporting controller's field. */
function validateEvent(event: Json, controller: string): FieldError[] {
  const namespace = asText(at(event, 'metadata', 'namespace'))
  const involved = asText(at(event, 'involvedObject', 'namespace'))
  const field = 'involvedObject.namespace'
  if (isUnset(event['eventTime'])) {
    const fits = involved ? involved === namespace : namespace === '' || namespace === 'default'
    return fits ? [] : [invalidValue(field, involved, MISPLACED)]
  }
  const wrong: FieldError[] = []
  if (!involved && namespace !== 'default' && namespace !== 'kube-system') {
    wrong.push(invalidValue(field, involved, MISPLACED))
  }
  const reporter = asText(event['reportingComponent'])
  if (!reporter) wrong.push(required(controller))
  wrong.push(...invalidEach(controller, reporter, qualifiedName(reporter)))
  for (const name of ['reportingInstance', 'action', 'reason']) {
    const text = asText(event[name])
    if (!text) wrong.push(required(name))
    if (text.length > 128) wrong.push(invalidValue(name, '', 'can have at most 128 characters'))
  }
  if (asText(event['message']).length > 1024) {
    wrong.push(invalidValue('message', '', 'can have at most 1024 characters'))
  }
  return wrong
}

function validateNewEvent(event: Json): FieldError[] {
  const wrong = validateEvent(event, 'reportingController')
  const { series, type, eventTime } = event
  if (isJson(series)) {
    if (asNumber(series['count']) < 2) wrong.push(invalidValue('series.count', '', 'should be at least 2'))
    if (isUnset(series['lastObservedTime'])) wrong.push(required('series.lastObservedTime'))
  }
  if (isUnset(eventTime)) wrong.push(required('eventTime'))
  if (type !== 'Normal' && type !== 'Warning') {
    wrong.push(invalidValue('type', '', `has invalid value: ${asText(type)}`))
  }
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count']) {
    if (!isUnset(event[field])) wrong.push(invalidValue(field, '', 'needs to be unset'))
  }
  if (Object.keys(asJson(event['source'])).length > 0) wrong.push(invalidValue('source', '', 'needs to be unset'))
  return wrong
}

const FIXED = ['involvedObject', 'reason', 'message', 'source', 'firstTimestamp', 'lastTimestamp', 'count', 'type']
const FIXED_TOO = ['eventTime', 'action', 'related', 'reportingInstance']

const involved =
  (field: string) =>
  (event: KubeObject): string =>
    asText(at(asCore(event as unknown as Json), 'involvedObject', field))

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const reason = (event: KubeObject): string => asText(at(event, 'reason'))
const type = (event: KubeObject): string => asText(at(event, 'type'))
const reporting = (event: KubeObject): string => asText(at(asCore(event as unknown as Json), 'reportingComponent'))

const selectableFields = {
  ...Object.fromEntries(REFERENCE.map((field) => [`involvedObject.${field}`, involved(field)])),
  reason,
  reportingComponent: reporting,
  source: (event: KubeObject) => {
    const core = asCore(event as unknown as Json)
    return asText(at(core, 'source', 'component')) || asText(core['reportingComponent'])
  },
  type,
}

/** The same under the names of the newer group, which has no `source`. */
const newerSelectableFields = {
  ...Object.fromEntries(REFERENCE.map((field) => [`regarding.${field}`, involved(field)])),
  reason,
  reportingController: reporting,
  type,
}

const shared = { generation: false, allowsCreateOnUpdate: true } as const

/** Events of both groups: one storage. */
export const EVENTS: KindTable = {
  events: {
    cells: eventCells,
    rules: { ...shared, selectableFields, validate: (event) => validateEvent(event, 'reportingComponent') },
  },
  'events.events.k8s.io': {
    bucket: 'events',
    conversion,
    cells: eventCells,
    rules: {
      ...shared,
      selectableFields: newerSelectableFields,
      validate: (event) => validateNewEvent(asCore(event)),
      validateChange: (event, old) => {
        const [next, before] = [asCore(event), asCore(old)]
        const fields = [...FIXED, ...FIXED_TOO].flatMap((field) => unchanged(field, next[field], before[field]))
        return [
          ...fields,
          ...unchanged('reportingController', next['reportingComponent'], before['reportingComponent']),
        ]
      },
    },
  },
}
