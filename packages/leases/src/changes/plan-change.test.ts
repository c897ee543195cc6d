import type { Kind, PartialObjectMetadata, Stored } from '@tenure/kube'
import { ConfigMap, ReplicaSet } from '@tenure/kube/kinds'
import { describe, expect, test } from 'vitest'
import { NEWER_FAMILY, SEED_FAMILY } from '../api/annotations.ts'
import { formatTime } from '../api/time.ts'
import { planLease } from '../controllers/lease/plan.ts'
import { leaseTarget } from './lease-target.ts'
import { type LeaseChangeContext, planExtension } from './plan-change.ts'

const families = [SEED_FAMILY, NEWER_FAMILY]
const SEED = SEED_FAMILY.prefix
const NEWER = NEWER_FAMILY.prefix
const CREATED = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

type Annotations = Readonly<Record<string, string>>

function object(annotations: Annotations, kind: Kind = ConfigMap): Stored<PartialObjectMetadata> {
  const metadata = {
    name: 'x',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: formatTime(CREATED),
    annotations,
  }
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata }
}

function contextOf(annotations: Annotations, now = CREATED + HOUR / 2): LeaseChangeContext {
  return { target: leaseTarget(ConfigMap, 'x', 'default'), current: object(annotations), families, now }
}

/** The end of the lease by its annotations, as a lease controller reads them. */
const endOf = (annotations: Annotations, now: number): number | undefined =>
  planLease(object(annotations), { families }, true, now).lease?.expireAt

describe('extensions', () => {
  test.each<[string, Annotations, string]>([
    ['runs from the creation', { [`${SEED}ttl`]: '1h', [`${SEED}expire-at`]: '2026-01-01T01:00:00Z' }, '1h30m'],
    ['has a start', { [`${SEED}ttl`]: '90m', [`${SEED}extended-at`]: '2026-01-01T00:10:00Z' }, '2h'],
    [
      'has a start in the newer family',
      { [`${NEWER}ttl`]: '2h', [`${NEWER}lease-start`]: '2026-01-01T00:00:00Z' },
      '2h30m',
    ],
    [
      'has a start with fractions of a second',
      { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: '2026-01-01T00:00:00.25Z' },
      '1h30m1s',
    ],
    [
      'starts again with updates',
      { [`${SEED}ttl`]: '1h', [`${SEED}renew-on`]: 'update', [`${SEED}expire-at`]: '2026-01-01T01:00:00Z' },
      '1h30m',
    ],
  ])('a lease that %s ends later and keeps its start', (_what, annotations, ttl) => {
    const context = contextOf(annotations)
    const before = endOf(annotations, context.now)
    const { changes, terms } = planExtension(context, '30m')
    expect(terms).toMatchObject({ type: 'ttl', text: ttl, end: (before ?? 0) + HOUR / 2 })
    const after = { ...annotations, ...(changes as Annotations) }
    expect(endOf(after, context.now)).toBe((before ?? 0) + HOUR / 2)
    expect(endOf(after, context.now + 1_234)).toBe((before ?? 0) + HOUR / 2)
  })

  test('a time of expiry moves', () => {
    const { changes, terms } = planExtension(contextOf({ [`${NEWER}expires`]: '2026-01-01T02:00:00Z' }), ' 1h ')
    expect(changes).toEqual({ [`${NEWER}expires`]: '2026-01-01T03:00:00Z' })
    expect(terms).toEqual({ type: 'time', text: '2026-01-01T03:00:00Z', end: CREATED + 3 * HOUR })
  })

  test('a lease that is over ends after now, or is not extended', () => {
    const over = { [`${SEED}ttl`]: '1m', [`${SEED}extended-at`]: '2026-01-01T00:00:00Z' }
    expect(planExtension(contextOf(over), '1h').terms).toMatchObject({ end: CREATED + HOUR + 60_000 })
    expect(() => planExtension(contextOf(over), '10m')).toThrow('The lease would still be over: it ended at')
  })

  const hourly = { [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: '2026-01-01T00:00:00Z' }
  test.each<[Annotations, string, 'terms' | 'object', string]>([
    [hourly, '30', 'terms', 'Invalid TTL: 30 has no unit'],
    [hourly, 'forever', 'terms', 'set forever'],
    [hourly, '0s', 'terms', 'extends nothing'],
    [hourly, '290y', 'terms', 'longer than a TTL can be'],
    [{ [`${SEED}expires`]: '9999-12-31' }, '1d', 'terms', 'after the year 9999'],
    [{}, '1h', 'object', 'configmap/x has no lease to extend'],
    [{ [`${SEED}ttl`]: 'forever' }, '1h', 'object', 'no end that can be extended'],
    [{ [`${SEED}ttl`]: 'nonsense' }, '1h', 'object', 'no end that can be extended'],
    [{ [`${SEED}ttl`]: '1h', [`${SEED}expires`]: '2027-01-01' }, '1h', 'object', 'no end that can be extended'],
  ])('an extension of %j by %s is refused because of the %s', (annotations, by, reason, message) => {
    const extend = () => planExtension(contextOf(annotations), by)
    expect(extend).toThrow(message)
    expect(extend).toThrow(expect.objectContaining({ reason, code: 'TENURE_LEASE_TERMS' }))
  })

  test('an object with inherited annotations is refused', () => {
    const annotations = { ...hourly, 'deployment.kubernetes.io/revision': '1' }
    const target = leaseTarget(ReplicaSet, 'x', 'default')
    const context = {
      ...contextOf({}),
      target,
      current: object(annotations, ReplicaSet),
    }
    expect(() => planExtension(context, '1h')).toThrow('set the lease on the owner')
  })
})
