import { ConfigMap } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { ClaimsFixture, MINUTE, type PoolFixture, type Replica, TEMPLATE } from './testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>> = { default: {} }): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const PREFIX = 'claim_controller_'

/** The value of a sample, by its name without the prefix. */
async function value(replica: Replica, sample: string): Promise<number | undefined> {
  const line = (await replica.exposed()).split('\n').find((each) => each.startsWith(`${PREFIX}${sample} `))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

/** Count and sum of a histogram. */
async function observed(replica: Replica, name: string): Promise<readonly (number | undefined)[]> {
  return [await value(replica, `${name}_count`), await value(replica, `${name}_sum`)]
}

async function buckets(replica: Replica, name: string): Promise<readonly string[]> {
  const found = (await replica.exposed()).matchAll(new RegExp(`^${PREFIX}${name}_bucket{le="([^"]*)"}`, 'gm'))
  return [...found].map(([, le = '']) => le)
}

const COUNTERS = [
  'claims_created_total',
  'claims_created_ondemand_total',
  'claims_reused_preprovisioned_total',
  'claims_preprovisioned_created_total',
  'claims_released_total',
  'timedout_claims_total',
]
const HISTOGRAMS = [
  'claim_ready_duration_seconds',
  'claim_lifetime_expected_ratio',
  'claim_usage_expected_ratio',
  'claim_lifetime_duration_seconds',
  'claim_total_duration_seconds',
  'claim_idle_duration_seconds',
  'claim_usage_duration_seconds',
]

test('the 15 metrics exist from the start, without labels', async () => {
  await setup()
  const replica = await fixture.replica()
  for (const name of [...COUNTERS, 'active_claims', 'active_resources']) expect(await value(replica, name)).toBe(0)
  for (const name of HISTOGRAMS) expect(await observed(replica, name)).toEqual([0, 0])
})

test('the histograms have the buckets of the original, and finer ones below a second', async () => {
  await setup()
  const replica = await fixture.replica()
  const ready = await buckets(replica, 'claim_ready_duration_seconds')
  expect(ready.slice(-9)).toEqual(['1', '2', '4', '8', '16', '32', '64', '128', '+Inf'])
  expect(ready.length).toBeGreaterThan(12)
  const ratio = ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9', '1', '1.1', '2', '3', '+Inf']
  expect(await buckets(replica, 'claim_lifetime_expected_ratio')).toEqual(ratio)
  expect(await buckets(replica, 'claim_usage_expected_ratio')).toEqual(ratio)
})

describe('the scenarios of the original', () => {
  test('a pool of 5 that has 3 members counts 2 more creations', async () => {
    await setup({ default: { count: 3 } })
    const first = await fixture.replica()
    await fixture.warm(3)
    expect(await value(first, 'claims_preprovisioned_created_total')).toBe(3)
    await first.stop()
    fixture.configure('default', { count: 5 })
    const second = await fixture.replica()
    await fixture.warm(5)
    expect(await value(second, 'claims_preprovisioned_created_total')).toBe(2)
  })

  test('a claim of an empty pool counts as created and on demand, and its start is the time until it is ready', async () => {
    await setup({
      default: { template: TEMPLATE.replace('annotations:', 'annotations:\n    tenure.dev/simulate-ready: 7500ms') },
    })
    const replica = await fixture.replica()
    await fixture.take(replica)
    expect(await value(replica, 'claims_created_total')).toBe(1)
    expect(await value(replica, 'claims_created_ondemand_total')).toBe(1)
    expect(await value(replica, 'claims_reused_preprovisioned_total')).toBe(0)
    const [count, sum] = await observed(replica, 'claim_ready_duration_seconds')
    expect(count).toBe(1)
    expect(sum).toBeGreaterThanOrEqual(7.5)
    expect(sum).toBeLessThan(9)
    expect(await observed(replica, 'claim_idle_duration_seconds')).toEqual([1, 0])
  })

  test('a warm claim counts as reused, with its idle time, and its release observes its life and use', async () => {
    const { clock } = await setup({ default: { count: 1, defaultTtl: 10 * MINUTE, maxTtl: 10 * MINUTE } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    const [member] = await fixture.idle()
    await clock.advance((member?.createdAt ?? 0) + MINUTE - clock.now())
    const { id } = await fixture.take(replica)
    expect(await value(replica, 'claims_reused_preprovisioned_total')).toBe(1)
    expect(await value(replica, 'claims_created_ondemand_total')).toBe(0)
    expect(await observed(replica, 'claim_idle_duration_seconds')).toEqual([1, 60])
    await clock.advance(3 * MINUTE)
    await fixture.whilePassing(replica.service.release(id))
    expect(await value(replica, 'claims_released_total')).toBe(1)
    expect(await observed(replica, 'claim_usage_duration_seconds')).toEqual([1, 180])
    expect(await observed(replica, 'claim_lifetime_duration_seconds')).toEqual([1, 240])
    expect(await observed(replica, 'claim_total_duration_seconds')).toEqual([1, 660])
    expect(await observed(replica, 'claim_lifetime_expected_ratio')).toEqual([1, 240 / 660])
    expect(await observed(replica, 'claim_usage_expected_ratio')).toEqual([1, 0.3])
  })

  test('an expiry observes life and use, once, and on the leader', async () => {
    const { clock } = await setup()
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    await fixture.take(follower, { ttl: 5 * MINUTE })
    await clock.advance(6 * MINUTE)
    expect(await fixture.claims()).toEqual([])
    const [count, ratio = 0] = await observed(leader, 'claim_usage_expected_ratio')
    expect(count).toBe(1)
    expect(ratio).toBeGreaterThanOrEqual(1)
    expect(ratio).toBeLessThan(1.01)
    for (const name of HISTOGRAMS.slice(1).filter((each) => !each.includes('idle'))) {
      expect((await observed(leader, name))[0]).toBe(1)
      expect((await observed(follower, name))[0]).toBe(0)
    }
    expect(await value(leader, 'claims_released_total')).toBe(0)
  })

  test('a wait that is too long counts as timed out, and not as created', async () => {
    await setup({
      default: { template: TEMPLATE.replace('annotations:', 'annotations:\n    tenure.dev/simulate-ready: never') },
    })
    const replica = await fixture.replica()
    await expect(fixture.take(replica)).rejects.toMatchObject({ status: 504 })
    expect(await value(replica, 'timedout_claims_total')).toBe(1)
    expect(await value(replica, 'claims_created_total')).toBe(0)
    expect(await value(replica, 'claims_created_ondemand_total')).toBe(1)
  })

  test('seven claims of two resources are 7 active claims and 14 active resources', async () => {
    const { clock } = await setup({ default: { count: 3 } })
    const replica = await fixture.replica()
    await fixture.warm(3)
    const taken = [await fixture.take(replica), await fixture.take(replica)]
    await fixture.warm(3)
    for (let number = 0; number < 2; number++) taken.push(await fixture.take(replica))
    await fixture.warm(3)
    expect([await value(replica, 'active_claims'), await value(replica, 'active_resources')]).toEqual([7, 14])
    for (const { id } of taken) await fixture.whilePassing(replica.service.release(id))
    await clock.advance(1_000)
    expect([await value(replica, 'active_claims'), await value(replica, 'active_resources')]).toEqual([3, 6])
    await fixture.api.deleteCollection(ConfigMap, { namespace: 'default' })
  })

  test('a release that fails, and a second one, are not counted', async () => {
    await setup()
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    await fixture.whilePassing(Promise.allSettled([replica.service.release(id), replica.service.release(id)]))
    await expect(fixture.whilePassing(replica.service.release('nothing'))).rejects.toMatchObject({ status: 404 })
    expect(await value(replica, 'claims_released_total')).toBe(1)
    expect((await observed(replica, 'claim_lifetime_duration_seconds'))[0]).toBe(1)
  })
})
