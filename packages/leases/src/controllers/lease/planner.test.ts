import { ConfigMap } from '@tenure/kube/kinds'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NEWER_FAMILY, SEED_FAMILY } from '../../api/annotations.ts'
import { formatTime } from '../../api/time.ts'
import { defaultLeaseSettings } from '../../api/types.ts'
import type { Leased } from './context.ts'
import { planLease } from './plan.ts'
import { LeasePlanner } from './planner.ts'
import { RollbackGuard } from './rollback-guard.ts'

const CREATED = Date.UTC(2026, 0, 1, 12)

function leased(resourceVersion: string, annotations: Readonly<Record<string, string>>): Leased {
  const creationTimestamp = formatTime(CREATED)
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'one',
      namespace: 'shop',
      uid: 'u1',
      generation: 2,
      resourceVersion,
      creationTimestamp,
      annotations,
    },
  }
}

/** Seconds around the times at which a plan changes: the age of ten seconds, and expiries. */
const seconds = fc.oneof(fc.integer({ min: 0, max: 70 }), fc.constantFrom(9.999, 10, 10.001, 59.999, 60, 60.001))
const annotation = fc.oneof(
  fc.constantFrom('60s', '5s', '0s', 'forever', 'soon').map((ttl): readonly [string, string] => ['ttl', ttl]),
  seconds.map((after): readonly [string, string] => ['extended-at', formatTime(CREATED + Math.ceil(after) * 1_000)]),
  fc
    .constantFrom('30', '60')
    .map((after): readonly [string, string] => ['expire-at', formatTime(CREATED + Number(after) * 1_000)]),
  fc.constant<readonly [string, string]>(['lease-start', 'noon']),
  fc.constant<readonly [string, string]>(['renew-on', 'update']),
  fc.constantFrom('1', '2').map((generation): readonly [string, string] => ['observed-generation', generation]),
  fc.constant<readonly [string, string]>(['lease-status', 'Lease expired. Deleting object.']),
)
const annotations = fc
  .array(fc.tuple(fc.constantFrom(SEED_FAMILY, NEWER_FAMILY), annotation), { maxLength: 5 })
  .map((all) => Object.fromEntries(all.map(([{ prefix }, [name, value]]) => [prefix + name, value])))

test('a remembered plan is the plan that would be made now, also when the clock goes back', () => {
  fc.assert(
    fc.property(
      fc.array(annotations, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), seconds)),
      (versions, asked) => {
        const planner = new LeasePlanner(ConfigMap, defaultLeaseSettings, new RollbackGuard())
        for (const [index, after] of asked) {
          const version = index % versions.length
          const object = leased(String(version), versions[version] ?? {})
          const now = CREATED + after * 1_000
          expect(planner.planOf(object, now)).toEqual(planLease(object, defaultLeaseSettings, true, now))
        }
      },
    ),
  )
})

test('the plan of one version is made once while time does not change it', () => {
  const planner = new LeasePlanner(ConfigMap, defaultLeaseSettings, new RollbackGuard())
  const object = leased('1', { [`${SEED_FAMILY.prefix}ttl`]: '60s' })
  const plan = planner.planOf(object, CREATED + 1_000)
  expect(planner.planOf({ ...object }, CREATED + 9_000)).toBe(plan)
  expect(planner.planOf(object, CREATED + 11_000)).not.toBe(plan)
})
