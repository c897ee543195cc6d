import type { KubeObject, Stored } from '@tenure/kube'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultLeaseSettings } from '../../api/types.ts'
import { datedExpiry, expiryWarningAt, isReadyToDelete, planLease } from './plan.ts'
import { formatTime } from '../../api/time.ts'

const SEED = 'object-lease-controller.ullberg.us/'
const NEWER = 'object-lease-controller.ullberg.io/'
const CREATED = Date.UTC(2026, 0, 1, 12)
const at = (seconds: number): string => formatTime(CREATED + seconds * 1_000)

function object(annotations: Readonly<Record<string, string>>, more: object = {}): Stored<KubeObject> {
  const metadata = {
    name: 'one',
    namespace: 'shop',
    uid: 'u1',
    resourceVersion: '7',
    creationTimestamp: at(0),
    annotations,
    ...more,
  }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata }
}

const seed = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [SEED + name, value]))
const newer = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [NEWER + name, value]))

const plan = (annotations: Readonly<Record<string, string>>, afterSeconds: number, more?: object) =>
  planLease(object(annotations, more), defaultLeaseSettings, true, CREATED + afterSeconds * 1_000)

/** The plan for an object of a kind with generations. */
function planOf(kind: string, annotations: Readonly<Record<string, string>>, generation: number, seconds: number) {
  const apiVersion = kind === 'Widget' ? 'example.dev/v1' : 'apps/v1'
  const one = { ...object(annotations, { generation }), apiVersion, kind }
  return planLease(one, defaultLeaseSettings, true, CREATED + seconds * 1_000)
}

function changed(
  annotations: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const all: Record<string, string | null> = { ...annotations, ...changes }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null))
}

/** The annotations after the plan was carried out. */
function carriedOut(annotations: Readonly<Record<string, string>>, afterSeconds: number): Record<string, string> {
  return changed(annotations, plan(annotations, afterSeconds).changes)
}

const active = (expireAt: string): string => `Lease active. Expires at ${expireAt} UTC.`

describe('a new object with a TTL', () => {
  test('a new object gets a date from its creation in one write', () => {
    const { changes, lease, started, startsNow, events } = plan(seed({ ttl: '60s' }), 1)
    expect(changes).toEqual(seed({ 'expire-at': at(60), 'lease-status': active(at(60)) }))
    expect(lease).toMatchObject({ start: CREATED, expireAt: CREATED + 60_000, propagation: 'Background' })
    expect({ started, startsNow }).toEqual({ started: true, startsNow: false })
    expect(events).toMatchObject([{ type: 'Normal', reason: 'LeaseStarted' }])
  })

  test('an object with its date needs no second write', () => {
    const written = carriedOut(seed({ ttl: '60s' }), 1)
    expect(plan(written, 30)).toMatchObject({ changes: {}, started: false, events: [] })
    expect(plan(written, 90)).toMatchObject({ changes: {} })
  })

  test('the expiry is rounded up to whole seconds', () => {
    expect(plan(seed({ ttl: '1500ms' }), 0).lease?.expireAt).toBe(CREATED + 2_000)
    expect(plan(seed({ ttl: '1s', 'extended-at': '2026-01-01T12:00:00.250Z' }), 0).lease?.expireAt).toBe(
      CREATED + 2_000,
    )
  })

  test('the newer family gets lease-start', () => {
    const { changes, startsNow } = plan(newer({ ttl: '60s' }), 2)
    expect(changes).toEqual(newer({ 'lease-start': at(2), 'expire-at': at(62), 'lease-status': active(at(62)) }))
    expect(startsNow).toBe(true)
    expect(plan(carriedOut(newer({ ttl: '60s' }), 2), 5).changes).toEqual({})
  })
})

describe('the start of a lease', () => {
  test('a TTL added later starts now', () => {
    const { changes, startsNow } = plan(seed({ ttl: '60s' }), 11)
    expect(startsNow).toBe(true)
    expect(changes).toMatchObject(seed({ 'extended-at': at(11), 'expire-at': at(71) }))
    expect(plan(carriedOut(seed({ ttl: '60s' }), 11), 20).changes).toEqual({})
  })

  test('a lease starts at the creation if the object is new or has a date', () => {
    expect(plan(seed({ ttl: '60s' }), 10)).toMatchObject({ startsNow: false, lease: { start: CREATED } })
    expect(plan(seed({ ttl: '90s', 'expire-at': at(60) }), 30)).toMatchObject({
      startsNow: false,
      started: false,
      lease: { expireAt: CREATED + 90_000 },
    })
  })

  test('a lease starts at extended-at', () => {
    const annotations = { ...carriedOut(seed({ ttl: '60s' }), 1), ...seed({ 'extended-at': at(40) }) }
    const { changes, started, events } = plan(annotations, 41)
    expect(changes).toMatchObject(seed({ 'expire-at': at(100), 'lease-status': active(at(100)) }))
    expect({ started, events }).toEqual({ started: false, events: [] })
  })

  test.each(['yesterday', '2026-01-01', '2026-01-01T12:00:00', '2026-02-30T12:00:00Z', '', '1767268800'])(
    'an invalid start %j is reset',
    (text) => {
      for (const annotations of [
        seed({ ttl: '60s', 'extended-at': text }),
        newer({ ttl: '60s', 'lease-start': text }),
      ]) {
        const { changes, events, startsNow } = plan(annotations, 5)
        expect(startsNow).toBe(true)
        expect(Object.values(changes)).toEqual(expect.arrayContaining([at(5), at(65)]))
        expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
          'Warning LeaseStartReset',
          'Normal LeaseStarted',
        ])
      }
    },
  )

  test.each([
    ['2026-01-01T12:00:05Z', 5],
    ['2026-01-01t12:00:05z', 5],
    ['2026-01-01T14:00:05+02:00', 5],
    ['2026-01-01T10:30:05-01:30', 5],
    ['2026-01-01T12:00:05.999999999Z', 6],
  ])('extended-at %s is read with its zone', (text, seconds) => {
    expect(plan(seed({ ttl: '60s', 'extended-at': text }), 5).lease?.start).toBe(CREATED + seconds * 1_000)
  })

  test('removing extended-at restarts a running lease', () => {
    const { [`${SEED}extended-at`]: _, ...rest } = carriedOut(seed({ ttl: '60s', 'extended-at': at(30) }), 31)
    expect(plan(rest, 50).changes).toMatchObject(seed({ 'extended-at': at(50), 'expire-at': at(110) }))
    const { [`${NEWER}lease-start`]: __, ...others } = carriedOut(newer({ ttl: '60s' }), 1)
    expect(plan(others, 50).changes).toMatchObject(newer({ 'lease-start': at(50), 'expire-at': at(110) }))
  })

  test('a changed TTL keeps the creation as the start', () => {
    const annotations = { ...carriedOut(seed({ ttl: '60s' }), 1), ...seed({ ttl: '2m' }) }
    expect(plan(annotations, 30).lease).toMatchObject({ start: CREATED, expireAt: CREATED + 120_000 })
  })

  test('the age of an object counts only until it has a date', () => {
    expect(plan(seed({ ttl: '60s' }), 1).isByAge).toBe(true)
    expect(plan(carriedOut(seed({ ttl: '60s' }), 1), 1).isByAge).toBe(false)
    expect(plan(seed({ ttl: '60s', 'extended-at': at(1) }), 1).isByAge).toBe(false)
    expect(plan(seed({ ttl: '60s' }), 11)).toMatchObject({ isByAge: false, startsNow: true })
    expect(plan(newer({ ttl: '60s' }), 1)).toMatchObject({ isByAge: false, startsNow: true })
    expect(plan(seed({ expires: '2027-01-01' }), 1).isByAge).toBe(false)
  })

  test.each([
    [seed({ ttl: '60s', 'extended-at': at(-61) })],
    [seed({ ttl: '60s', 'extended-at': at(-60) })],
    [newer({ ttl: '60s', 'lease-start': at(-86_400) })],
    // A restored object has all its annotations.
    [seed({ ttl: '60s', 'extended-at': at(-600), 'lease-basis': 'extended-at', 'expire-at': at(-540) })],
  ])('a lease that ended before the object was created starts at the creation: %j', (annotations) => {
    for (const seconds of [1, 1_000]) {
      const { changes, events, lease, startsNow } = plan(annotations, seconds)
      expect(lease).toMatchObject({ start: CREATED, expireAt: CREATED + 60_000 })
      expect(Object.values(changes)).toEqual(expect.arrayContaining([at(0), at(60)]))
      expect(startsNow).toBe(false)
      expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
        'Warning LeaseStartReset',
        'Normal LeaseStarted',
      ])
    }
    expect(plan(carriedOut(annotations, 1), 5)).toMatchObject({ changes: {}, events: [] })
  })

  test('a lease that started before the creation and ends after it keeps its start', () => {
    expect(plan(seed({ ttl: '60s', 'extended-at': at(-59) }), 1).lease?.expireAt).toBe(CREATED + 1_000)
    expect(plan(seed({ ttl: '0s', 'extended-at': at(0) }), 1).lease?.expireAt).toBe(CREATED)
  })

  test('a lease never starts before the creation', () => {
    expect(plan(newer({ ttl: '60s' }), -3_600).lease?.start).toBe(CREATED)
  })
})

describe('an invalid TTL', () => {
  test('an invalid TTL is reported and leaves no stale date', () => {
    const annotations = { ...carriedOut(seed({ ttl: '60s' }), 1), ...seed({ ttl: '1h30' }) }
    const { changes, lease, invalid, events } = plan(annotations, 5)
    expect(changes[`${SEED}expire-at`]).toBeNull()
    expect(changes[`${SEED}lease-status`]).toMatch(/^Invalid TTL: 30 has no unit/)
    expect({ lease, invalid }).toEqual({ lease: undefined, invalid: true })
    expect(events).toMatchObject([{ type: 'Warning', reason: 'InvalidTTL' }])
    const written = carriedOut(annotations, 5)
    expect(plan(written, 500)).toMatchObject({ changes: {}, invalid: false, events: [] })
  })

  test('a corrected TTL starts the lease', () => {
    const annotations = { ...carriedOut(seed({ ttl: 'soon' }), 1), ...seed({ ttl: '60s' }) }
    expect(plan(annotations, 600).lease?.expireAt).toBe(CREATED + 660_000)
  })

  test.each([
    [{ ttl: '1h', expires: '2027-01-01' }, /both ttl and expires/],
    [{ ttl: '1h', 'renew-on': 'always' }, /renew-on must be update/],
    [{ ttl: '1h', 'renew-on': '' }, /renew-on must be update/],
    [{ expires: '2026-01-01' }, /expires is not after the object's creation/],
    [{ expires: '2026-01-01T12:00:00Z' }, /expires is not after the object's creation/],
    [{ ttl: '1h', propagation: 'Cascade' }, /propagation must be Background, Foreground, Orphan/],
    [{ expires: 'tomorrow' }, /expires must be a time/],
    [{ expires: '2026-13-01' }, /expires must be a time/],
    [{ ttl: '290y', 'extended-at': '9990-01-01T00:00:00Z' }, /after the year 9999/],
    [{ ttl: '300y' }, /290 years/],
    [{ expires: '9999-12-31T23:59:59.5Z' }, /after the year 9999/],
    [{ expires: '9999-12-31T23:59:59-01:00' }, /after the year 9999/],
  ])('%j is invalid', (annotations, reason) => {
    const { changes, lease } = plan(seed(annotations), 1)
    expect(lease).toBeUndefined()
    expect(changes[`${SEED}lease-status`]).toMatch(reason)
  })
})

test('nothing is deleted because of a date that is older than the object', () => {
  const annotation = fc.integer({ min: -100_000, max: 100 })
  const family = fc.constantFrom(seed, newer)
  fc.assert(
    fc.property(annotation, fc.integer({ min: 0, max: 1_000 }), family, fc.boolean(), (start, ttl, as, isFixed) => {
      const name = as === seed ? 'extended-at' : 'lease-start'
      const annotations = as(isFixed ? { expires: at(start) } : { ttl: `${ttl}s`, [name]: at(start) })
      const isOlder = isFixed ? start <= 0 : start < 0 && start + ttl <= 0
      const end = isFixed ? start : start + ttl
      const kept = isFixed ? undefined : CREATED + ttl * 1_000
      expect(plan(annotations, 100_000).lease?.expireAt).toBe(isOlder ? kept : CREATED + end * 1_000)
    }),
  )
})

describe('renew-on: update', () => {
  const first = seed({ ttl: '60s', 'renew-on': 'update' })

  test.each([
    ['Widget', first, 0],
    ['StatefulSet', newer({ ttl: '60s', 'renew-on': ' Update ' }), 0],
    // The API server counts a change of annotations only here.
    ['Deployment', first, 1],
  ])('a change of the generation of a %s starts the lease again', (kind, annotations, counted) => {
    const [prefix = ''] = Object.keys(annotations)[0]?.split('ttl') ?? []
    const dated = changed(annotations, planOf(kind, annotations, 1, 1).changes)
    expect(dated[`${prefix}observed-generation`]).toBe(String(1 + counted))
    expect(planOf(kind, dated, 1 + counted, 30).changes).toEqual({})

    const { changes, events, lease, started, startsNow } = planOf(kind, dated, 2 + counted, 30)
    expect({ expireAt: lease?.expireAt, started, startsNow }).toEqual({
      expireAt: CREATED + 90_000,
      started: true,
      startsNow: true,
    })
    expect(events).toMatchObject([{ type: 'Normal', reason: 'LeaseStarted', message: /^The object was updated/ }])
    expect(planOf(kind, changed(dated, changes), 2 + 2 * counted, 40).changes).toEqual({})
    // Also long after the end, if the update was missed.
    expect(planOf(kind, dated, 9, 10_000).lease?.expireAt).toBe(CREATED + 10_060_000)
  })

  test('a renewal does not shorten a lease whose start is later', () => {
    const dated = changed(first, planOf('Widget', first, 1, 1).changes)
    const { changes, lease } = planOf('Widget', { ...dated, ...seed({ 'extended-at': at(500) }) }, 2, 30)
    expect(lease?.expireAt).toBe(CREATED + 560_000)
    expect(changes).toMatchObject(seed({ 'observed-generation': '2', 'expire-at': at(560) }))
  })

  test('a lease that is over is renewed if its generation was never recorded', () => {
    const dated = { ...carriedOut(seed({ ttl: '60s' }), 1), ...first }
    expect(planOf('Widget', dated, 1, 59).changes).toEqual(seed({ 'observed-generation': '1' }))
    expect(planOf('Widget', dated, 1, 61).lease?.expireAt).toBe(CREATED + 121_000)
  })

  test('the recorded generation is removed with renew-on', () => {
    const dated = changed(first, planOf('Widget', first, 1, 1).changes)
    const { [`${SEED}renew-on`]: _, ...rest } = dated
    expect(planOf('Widget', rest, 5, 2).changes).toEqual({ [`${SEED}observed-generation`]: null })
  })

  test('a kind without generations says that renew-on has no effect', () => {
    const { changes, lease } = plan(first, 1)
    expect(changes[`${SEED}lease-status`]).toMatch(
      / Warning: \S+renew-on has no effect: objects of this kind have no gen/,
    )
    expect(changes).not.toHaveProperty(`${SEED}observed-generation`)
    expect(lease?.expireAt).toBe(CREATED + 60_000)
    const fixed = planOf('Widget', seed({ expires: '2027-01-01', 'renew-on': 'update' }), 1, 1)
    expect(fixed.changes[`${SEED}lease-status`]).toMatch(/renew-on has no effect: expires is a fixed time\.$/)
  })
})

describe('expires', () => {
  test.each([
    ['2026-06-11T20:48:11Z', '2026-06-11T20:48:11Z'],
    ['2026-06-11', '2026-06-11T00:00:00Z'],
    ['2026-06-11T20:48:11.001+02:00', '2026-06-11T18:48:12Z'],
  ])('expires %s gives the date', (text, expireAt) => {
    const { changes } = plan(seed({ expires: text }), 100)
    expect(changes).toEqual(seed({ 'expire-at': expireAt, 'lease-status': active(expireAt) }))
  })

  test('expires writes no start in either family', () => {
    expect(plan(newer({ expires: '2026-06-11' }), 1).changes).not.toHaveProperty(`${NEWER}lease-start`)
  })
})

test('a TTL of forever has a status and no date', () => {
  const { changes, lease } = plan({ ...carriedOut(seed({ ttl: '60s' }), 1), ...seed({ ttl: 'forever' }) }, 5)
  expect(lease).toBeUndefined()
  expect(changes).toEqual({
    [`${SEED}expire-at`]: null,
    [`${SEED}lease-status`]: 'Lease active. Never expires.',
  })
})

describe('two families', () => {
  test('the seed family wins over the newer one, with a warning', () => {
    const { changes, lease } = plan(
      { ...seed({ ttl: '60s' }), ...newer({ ttl: '1h', 'expire-at': at(3_600), 'lease-start': at(0) }) },
      1,
    )
    expect(lease?.expireAt).toBe(CREATED + 60_000)
    expect(changes[`${SEED}lease-status`]).toBe(`${active(at(60))} Warning: ${NEWER}ttl is ignored, ${SEED}ttl counts.`)
    expect(changes[`${NEWER}expire-at`]).toBeNull()
    expect(changes).not.toHaveProperty(`${NEWER}lease-start`)
  })
})

describe('annotations of the family that does not count', () => {
  test.each([
    [seed({ ttl: '60s' }), newer({ 'on-delete-job': 'a/b' }), `${NEWER}on-delete-job is ignored, ${SEED}ttl counts.`],
    [
      newer({ ttl: '60s', 'lease-start': at(0) }),
      seed({ propagation: 'Orphan', 'on-delete-job': 'a/b' }),
      `${SEED}propagation and ${SEED}on-delete-job are ignored, ${NEWER}ttl counts.`,
    ],
    [seed({ expires: at(60) }), newer({ expires: at(70) }), `${NEWER}expires is ignored, ${SEED}expires counts.`],
  ])('a warning names the ignored annotations: %j %j', (counts, ignored, warning) => {
    const { changes, lease } = plan({ ...counts, ...ignored }, 1)
    expect(lease?.expireAt).toBe(CREATED + 60_000)
    expect(Object.values(changes)).toContain(`${active(at(60))} Warning: ${warning}`)
  })
})

test.each([
  [{ propogation: 'Orphan' }, `${SEED}propogation is not known.`],
  [{ 'lease-start': at(0), 'on-delete-jobs': 'a/b' }, `${SEED}lease-start and ${SEED}on-delete-jobs are not known.`],
])('a warning names unknown annotations: %j', (more, warning) => {
  const annotations = seed({ ttl: '60s', ...more })
  const { changes } = plan(annotations, 1)
  expect(changes[`${SEED}lease-status`]).toBe(`${active(at(60))} Warning: ${warning}`)
  expect(plan(carriedOut(annotations, 1), 2).changes).toEqual({})
})

describe('removing the TTL', () => {
  test('removing the TTL removes the status annotations and the start', () => {
    const { [`${SEED}ttl`]: _, ...rest } = carriedOut(seed({ ttl: '60s', 'extended-at': at(2) }), 3)
    const { changes, events } = plan({ ...rest, other: 'stays' }, 5)
    expect(changes).toEqual({
      [`${SEED}expire-at`]: null,
      [`${SEED}lease-status`]: null,
      [`${SEED}extended-at`]: null,
      [`${SEED}lease-basis`]: null,
    })
    expect(events).toMatchObject([{ type: 'Normal', reason: 'LeaseAnnotationsCleaned' }])
  })

  test('the start is removed even if only some status annotations are left', () => {
    const ours = carriedOut(seed({ ttl: '60s' }), 11)
    const left = seed({ 'extended-at': at(11), 'lease-basis': ours[`${SEED}lease-basis`] ?? '' })
    expect(plan(left, 20).changes).toEqual({ [`${SEED}extended-at`]: null, [`${SEED}lease-basis`]: null })
  })

  test('an object that never had a lease is left alone', () => {
    expect(plan(seed({ 'extended-at': at(2) }), 5).changes).toEqual({})
    expect(plan({ other: 'x' }, 5).changes).toEqual({})
    expect(planLease(object({}), defaultLeaseSettings, true, CREATED).changes).toEqual({})
  })
})

test('a terminating object is left alone', () => {
  expect(plan(seed({ ttl: '60s' }), 1, { deletionTimestamp: at(1) })).toMatchObject({ changes: {}, lease: undefined })
})

test.each([
  ['ReplicaSet', true, {}, 0],
  ['ReplicaSet', false, {}, 2],
  ['Pod', true, {}, 2],
  // It was orphaned.
  ['ReplicaSet', false, { 'deployment.kubernetes.io/revision': '1' }, 0],
])('a %s that a Deployment controls: %s, with %j, gets %i status annotations', (kind, controller, more, count) => {
  const annotated = object(
    { ...seed({ ttl: '60s', 'expire-at': at(30) }), ...more },
    { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller }] },
  )
  const { changes } = planLease({ ...annotated, kind }, defaultLeaseSettings, true, CREATED)
  expect(Object.keys(changes)).toHaveLength(count)
})

test.each([
  ['apps/v1', 'ControllerRevision', 'StatefulSet', 0],
  ['apps/v1', 'ControllerRevision', undefined, 0],
  ['example.dev/v1', 'ControllerRevision', 'Other', 2],
  // Mirrored, and not.
  ['discovery.k8s.io/v1', 'EndpointSlice', 'Endpoints', 0],
  ['discovery.k8s.io/v1', 'EndpointSlice', 'Service', 2],
  ['discovery.k8s.io/v1', 'EndpointSlice', undefined, 2],
])('a %s %s of a %s gets %i status annotations', (apiVersion, kind, owner, count) => {
  const reference = { apiVersion: 'v1', kind: owner ?? '', name: 'web', uid: 'd', controller: true }
  const annotated = object(seed({ ttl: '60s' }), owner === undefined ? {} : { ownerReferences: [reference] })
  const { changes } = planLease({ ...annotated, apiVersion, kind }, defaultLeaseSettings, true, CREATED)
  expect(Object.keys(changes)).toHaveLength(count)
})

const isOver = (annotations: Readonly<Record<string, string>>, seconds: number): boolean => {
  const now = CREATED + seconds * 1_000
  const one = object(annotations)
  return (datedExpiry(planLease(one, defaultLeaseSettings, true, now)) ?? Infinity) <= now
}

describe('the expiry', () => {
  const dated = carriedOut(seed({ ttl: '60s' }), 1)
  test('a lease expires at its date and only if the date is on the object', () => {
    expect([isOver(dated, 59.999), isOver(dated, 60)]).toEqual([false, true])
    expect(isOver(seed({ ttl: '60s' }), 60)).toBe(false)
    expect(isOver({ ...dated, ...seed({ 'expire-at': at(59) }) }, 70)).toBe(false)
    expect(isOver({ ...dated, ...seed({ 'extended-at': at(30) }) }, 70)).toBe(false)
  })

  test('the expired status stays until the lease is extended', () => {
    const expired = { ...dated, ...seed({ 'lease-status': 'Lease expired. Deleting object.' }) }
    expect(plan(expired, 60).changes).toEqual({})
    expect(plan({ ...expired, ...seed({ 'extended-at': at(60) }) }, 61).changes).toMatchObject(
      seed({ 'lease-status': active(at(120)) }),
    )
  })

  test('the cleanup record stays when the local clock runs behind', () => {
    const record = JSON.stringify({ expireAt: at(60), attempt: 2, state: 'running', job: 'j' })
    const status = 'Lease expired. Waiting for cleanup job j.'
    const running = { ...dated, ...seed({ 'cleanup-job-record': record, 'lease-status': status }) }
    expect(plan(running, 50).changes).toEqual({})
    expect(plan({ ...running, ...seed({ 'extended-at': at(50) }) }, 51).changes).toMatchObject({
      [`${SEED}cleanup-job-record`]: null,
      [`${SEED}lease-status`]: active(at(110)),
    })
  })

  test('an object is ready to delete after the cleanup of this expiry', () => {
    const withJob = { ...dated, ...seed({ 'on-delete-job': 'scripts/run' }) }
    const ready = (record?: object): boolean => {
      const one = object({ ...withJob, ...(record && seed({ 'cleanup-job-record': JSON.stringify(record) })) })
      return isReadyToDelete(one, planLease(one, defaultLeaseSettings, true, CREATED + 60_000))
    }
    expect(ready()).toBe(false)
    expect(ready({ expireAt: at(60), attempt: 1, state: 'running', job: 'j' })).toBe(false)
    expect(ready({ expireAt: at(60), attempt: 1, state: 'done', job: 'j' })).toBe(true)
    expect(ready({ expireAt: at(59), attempt: 1, state: 'done', job: 'j' })).toBe(false)
    expect(ready({ nonsense: true })).toBe(false)
  })

  test('the warning comes a tenth of the TTL before the expiry, at most an hour', () => {
    const announced = (ttl: string): number | undefined => {
      const { lease } = plan(seed({ ttl }), 1)
      return lease && (expiryWarningAt(lease, defaultLeaseSettings.expiryWarning) ?? 0) - CREATED
    }
    expect(announced('100s')).toBe(90_000)
    expect(announced('100h')).toBe(99 * 3_600_000)
    const { lease } = plan(seed({ ttl: '1h' }), 1)
    expect(lease && expiryWarningAt(lease, { fraction: 0, atMost: 1 })).toBeUndefined()
  })
})

test('an invalid job is reported together with the date', () => {
  const { changes, events } = plan(seed({ ttl: '60s', 'on-delete-job': 'nonsense' }), 1)
  expect(changes[`${SEED}lease-status`]).toMatch(
    /^Lease active\. .* Warning: The cleanup job cannot be run: on-delete-job/,
  )
  expect(events.map(({ reason }) => reason)).toEqual(['CleanupJobConfigInvalid', 'LeaseStarted'])
})
