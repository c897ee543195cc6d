import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventRecord } from './entry.ts'
import { EventStore, type RemoteEvent } from './store.ts'

const source = { component: 'test', host: 'here' }
const START = Date.UTC(2026, 0, 1)

function record(name: string, more: Partial<EventRecord> = {}): EventRecord {
  const involvedObject = { kind: 'Application', namespace: 'default', name }
  return { type: 'Normal', reason: 'Reconciled', message: 'Well.', involvedObject, ...more }
}

function remote(id: string, last: number, count = 1): RemoteEvent {
  return { ...record(id), id, source: { component: 'test', host: 'there' }, first: START, last: START + last, count }
}

/** An event of another process about one Application. */
function reconciled(id: string, message: string, at: number, count = 1): RemoteEvent {
  return { ...record('shop', { message }), id, source, count, first: START + at, last: START + at }
}

/** A store with its own clock. */
function setup(limit = 100) {
  const store = new EventStore({ limit, window: 60_000, source })
  let time = 0
  let ids = 0
  return {
    store,
    pass: (milliseconds: number) => (time += milliseconds),
    record: (each: EventRecord) => store.record(each, { now: START + time, monotonic: time }, () => `id-${++ids}`),
    names: (filter?: Parameters<EventStore['list']>[0]) =>
      store.list(filter).map(({ involvedObject }) => involvedObject.name),
  }
}

describe('a repeated event', () => {
  test('a repetition within a minute increases the count and moves the event to the front', () => {
    const { store, pass, record: note } = setup()
    note(record('a'))
    pass(1)
    note(record('b'))
    pass(59_998)
    note(record('a', { message: 'Still well.' }))
    pass(59_999)
    note(record('a', { severity: 'Critical' }))
    expect(store.list()).toEqual([
      {
        id: 'id-1',
        type: 'Normal',
        severity: 'Critical',
        reason: 'Reconciled',
        message: 'Well.',
        involvedObject: { kind: 'Application', namespace: 'default', name: 'a' },
        source,
        firstTimestamp: '2026-01-01T00:00:00.000Z',
        lastTimestamp: '2026-01-01T00:01:59.998Z',
        count: 3,
      },
      expect.objectContaining({ id: 'id-2', count: 1 }),
    ])
  })

  test('a repetition after a minute is a new event', () => {
    const { store, pass, record: note } = setup()
    note(record('a'))
    pass(60_000)
    note(record('a'))
    expect(store.list().map(({ id, count }) => [id, count])).toEqual([
      ['id-2', 1],
      ['id-1', 1],
    ])
  })

  test.each([
    { type: 'Warning' as const },
    { reason: 'Created' },
    { involvedObject: { kind: 'Deployment', namespace: 'default', name: 'a' } },
    { involvedObject: { kind: 'Application', namespace: 'other', name: 'a' } },
    { involvedObject: { kind: 'Application', namespace: 'default', name: 'b' } },
  ])('an event that differs in %o is a new event', (difference) => {
    const { store, record: note } = setup()
    note(record('a'))
    note(record('a', difference))
    expect(store.list().map(({ count }) => count)).toEqual([1, 1])
  })
})

test('the aggregation window follows the monotonic clock', () => {
  const store = new EventStore({ limit: 10, window: 60_000, source })
  let ids = 0
  const makeId = (): string => `id-${++ids}`
  store.record(record('a'), { now: START, monotonic: 0 }, makeId)
  store.record(record('a'), { now: START + 3_600_000, monotonic: 1_000 }, makeId)
  expect(store.list().map(({ id, count }) => [id, count])).toEqual([['id-1', 2]])
})

test('the filter matches every field', () => {
  const { pass, names, record: note } = setup()
  note(record('a'))
  pass(1_000)
  note(record('b', { type: 'Warning', reason: 'ValidationFailed' }))
  pass(1_000)
  note(record('c', { type: 'Error', involvedObject: { kind: 'Deployment', namespace: 'other', name: 'c' } }))
  expect(names()).toEqual(['c', 'b', 'a'])
  expect(names({ namespace: 'default' })).toEqual(['b', 'a'])
  expect(names({ namespace: 'default', name: 'a' })).toEqual(['a'])
  expect(names({ kind: 'Deployment' })).toEqual(['c'])
  expect(names({ type: 'Warning' })).toEqual(['b'])
  expect(names({ severity: 'Error' })).toEqual(['c'])
  expect(names({ severity: 'Info' })).toEqual(['a'])
  expect(names({ since: START + 1_000 })).toEqual(['c', 'b'])
  expect(names({ limit: 2 })).toEqual(['c', 'b'])
  expect(names({ limit: 0 })).toEqual([])
  expect(names({ kind: 'Application', limit: 1 })).toEqual(['b'])
})

test('events of another process are sorted in, and their counts only grow', () => {
  const { store, pass, names, record: note } = setup()
  note(record('a'))
  pass(5_000)
  note(record('b'))
  store.merge(remote('x', 2_000))
  store.merge(remote('y', 9_000))
  expect(names()).toEqual(['y', 'b', 'x', 'a'])
  store.merge(remote('x', 10_000, 3))
  store.merge(remote('x', 2_000, 1))
  expect(names()).toEqual(['x', 'y', 'b', 'a'])
  expect(store.list({ name: 'x' })).toMatchObject([{ count: 3, source: { host: 'there' } }])
})

test('events of another process that differ in the message only are one entry within a minute', () => {
  const { store } = setup()
  store.merge(reconciled('x', '3 of 3.', 0))
  store.merge(reconciled('y', '5 of 5.', 59_000))
  store.merge(reconciled('y', '5 of 5.', 59_000))
  expect(store.list()).toMatchObject([{ id: 'x', message: '5 of 5.', count: 2 }])
  store.merge(reconciled('x', '3 of 3.', 1_000, 4))
  expect(store.list()).toMatchObject([{ id: 'x', message: '5 of 5.', count: 5 }])
  store.merge(reconciled('z', '7 of 7.', 119_000))
  expect(store.list().map(({ id, count }) => [id, count])).toEqual([
    ['z', 1],
    ['x', 5],
  ])
})

test('long texts are cut', () => {
  const { store, record: note } = setup()
  note(record('n'.repeat(10_000), { message: 'm'.repeat(10_000), reason: 'R'.repeat(10_000) }))
  expect(JSON.stringify(store.list()).length).toBeLessThan(2_000)
})

test('the store keeps the newest entries in order', () => {
  const step = fc.oneof(
    fc.record({ own: fc.integer({ min: 0, max: 40 }), pass: fc.constantFrom(0, 1, 30_000, 70_000) }),
    fc.record({ remote: fc.integer({ min: 0, max: 40 }), last: fc.integer({ min: 0, max: 1_000_000 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (steps, limit) => {
      const { store, pass, record: note } = setup(limit)
      const shadow = setup(1_000_000)
      for (const each of steps) {
        for (const target of [{ store, pass, record: note }, shadow]) {
          if ('own' in each) {
            target.pass(each.pass)
            target.record(record(`own-${each.own}`))
          } else target.store.merge(remote(`remote-${each.remote}`, each.last))
        }
      }
      const listed = store.list()
      const times = listed.map(({ lastTimestamp }) => lastTimestamp)
      expect(times).toEqual(times.toSorted().toReversed())
      expect(listed.length).toBeLessThanOrEqual(limit)
      // A kept entry is never older than the newest entries of an unbounded history.
      const best = shadow.store.list({ limit })
      expect(times.length).toBe(best.length)
      expect(times.at(0)).toBe(best.at(0)?.lastTimestamp)
    }),
  )
})
