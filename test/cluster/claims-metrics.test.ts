/** Tests the scenario that the seed document gives for each metric, read from /metrics. */
import { mergePatch } from '@tenure/kube'
import { Node } from '@tenure/kube/kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ClaimsFixture, type ClaimsProcess } from './programs-under-test/claims.ts'
import { ClaimHistory, lastState, type Track } from './support/claim-history.ts'
import { PoolMembers } from './support/pool-members.ts'
import { until } from './support/until.ts'

const COUNTERS = [
  'claims_created_total',
  'claims_created_ondemand_total',
  'claims_preprovisioned_created_total',
  'claims_reused_preprovisioned_total',
  'claims_released_total',
  'timedout_claims_total',
] as const
const GAUGES = ['active_claims', 'active_resources'] as const
const HISTOGRAMS = [
  'claim_ready_duration_seconds',
  'claim_idle_duration_seconds',
  'claim_usage_duration_seconds',
  'claim_lifetime_duration_seconds',
  'claim_total_duration_seconds',
  'claim_lifetime_expected_ratio',
  'claim_usage_expected_ratio',
] as const

let fixture: ClaimsFixture
let history: ClaimHistory
let operator: ClaimsProcess
/** A label that a node gets only during a test. */
let gate: string

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig())
  gate = `example.com/${fixture.namespace}`
  history = await ClaimHistory.open(fixture.admin.client, fixture.namespace)
})

afterAll(async () => {
  await labelNode(null)
  await history.close()
  await fixture.close()
})

async function labelNode(value: string | null): Promise<void> {
  await fixture.admin.client.patch(Node, { name: 'node-0' }, mergePatch({ metadata: { labels: { [gate]: value } } }))
}

/** Starts an operator with a pool of `count`, and a pool without members whose pods wait for the gate. */
async function start(count: number): Promise<ClaimsProcess> {
  const values = await fixture.write('gated.yaml', `nodeSelector: {${gate}: open}`)
  const config = await fixture.write('config.json', { pools: { gated: { valuesPath: values }, cold: {} } })
  const env = { PRE_PROVISION_CLAIMS_COUNT: String(count), CONFIG_PATH: config }
  const started = await fixture.start('only', { env })
  await started.whenReady()
  await whenFull(count)
  return started
}

async function whenFull(count: number): Promise<void> {
  await new PoolMembers(fixture.admin.client, fixture.namespace, 'default').whenFull(count)
}

/** The value of a metric. */
async function value(name: string): Promise<number | undefined> {
  return (await operator.metrics()).get(`claim_controller_${name}`)
}

async function values<Name extends string>(names: readonly Name[]): Promise<Record<Name, number | undefined>> {
  const metrics = await operator.metrics()
  const entries = names.map((name) => [name, metrics.get(`claim_controller_${name}`)] as const)
  return Object.fromEntries(entries) as Record<Name, number | undefined>
}

async function claimOf(id: string): Promise<Track> {
  await until('the watch shows the claim', () => history.claim(id) !== undefined && !isIdle(id))
  const claim = history.claim(id)
  if (!claim) throw new Error('There is no claim')
  return claim
}

function isIdle(id: string): boolean {
  const claim = history.claim(id)
  return claim !== undefined && lastState(claim).isIdle
}

const createdAt = (claim: Track): number => Date.parse(claim.versions[0]?.metadata.creationTimestamp ?? '')

test('a pool of five that has three members makes two, and all metrics are there from the start', async () => {
  const first = await start(3)
  await first.stop()
  operator = await start(5)
  const text = await (await operator.fetch('/metrics', {}, operator.ports.metrics)).text()
  for (const [type, names] of [
    ['counter', COUNTERS],
    ['gauge', GAUGES],
    ['histogram', HISTOGRAMS],
  ] as const) {
    for (const name of names) expect(text).toContain(`# TYPE claim_controller_${name} ${type}\n`)
  }
  expect(await values(COUNTERS)).toEqual({
    claims_created_total: 0,
    claims_created_ondemand_total: 0,
    claims_preprovisioned_created_total: 2,
    claims_reused_preprovisioned_total: 0,
    claims_released_total: 0,
    timedout_claims_total: 0,
  })
})

test('claims of the pool are counted, with the time that they were idle', async () => {
  // A member has waited for at least a second.
  const oldest = Math.min(...history.claims.filter(({ deletedAt }) => deletedAt === undefined).map(createdAt))
  await until('a member is a second old', () => Date.now() > oldest + 2_000)
  const taken = [await operator.take(), await operator.take()]
  await whenFull(5)
  expect(await values(COUNTERS)).toMatchObject({
    claims_created_total: 2,
    claims_created_ondemand_total: 0,
    claims_preprovisioned_created_total: 4,
    claims_reused_preprovisioned_total: 2,
  })
  const idle = await value('claim_idle_duration_seconds_sum')
  const claims = await Promise.all(taken.map(({ id }) => claimOf(id)))
  const waited = claims.map((claim) => Date.parse(lastState(claim).claimedAt ?? '') - createdAt(claim))
  expect(Math.abs((idle ?? 0) - waited.reduce((sum, each) => sum + each, 0) / 1_000)).toBeLessThan(0.01)
  expect(idle).toBeGreaterThan(1)
  expect(await value('claim_idle_duration_seconds_count')).toBe(2)
  // Seven claims with a pod and a service each.
  expect(await values(GAUGES)).toEqual({ active_claims: 7, active_resources: 14 })
})

test('a claim without a member to hand out is counted as made on demand, with its time until it was ready', async () => {
  const before = await value('claim_ready_duration_seconds_sum')
  const started = Date.now()
  const waiting = operator.take({ pool: 'gated' })
  await until('its pod waits for a second', () => Date.now() > started + 1_100)
  await labelNode('open')
  await waiting
  expect(await values(COUNTERS)).toMatchObject({ claims_created_total: 3, claims_created_ondemand_total: 1 })
  const seconds = ((await value('claim_ready_duration_seconds_sum')) ?? 0) - (before ?? 0)
  expect(seconds).toBeGreaterThan(1.1)
  expect(seconds).toBeLessThan((Date.now() - started) / 1_000)
  expect(await value('claim_ready_duration_seconds_bucket{le="1"}')).toBe(2)
  expect(await value('claim_ready_duration_seconds_bucket{le="128"}')).toBe(3)
  expect(await values(GAUGES)).toEqual({ active_claims: 8, active_resources: 16 })
})

test('a release halfway through the TTL gives ratios of about one half', async () => {
  const { id } = await operator.take({ pool: 'cold', ttl: '4s' })
  const claim = await claimOf(id)
  const { expiresAt, claimedAt } = lastState(claim)
  const created = createdAt(claim)
  const total = (expiresAt - created) / 1_000
  await until('half of the TTL is over', () => Date.now() >= created + (total * 1_000) / 2)
  expect((await operator.release(id)).status).toBe(204)
  const lifetime = (await value('claim_lifetime_duration_seconds_sum')) ?? 0
  expect(lifetime).toBeGreaterThanOrEqual(total / 2)
  expect(lifetime).toBeLessThan((Date.now() - created) / 1_000)
  expect(await value('claims_released_total')).toBe(1)
  expect(await value('claim_total_duration_seconds_sum')).toBe(total)
  expect(await value('claim_lifetime_expected_ratio_sum')).toBeCloseTo(lifetime / total, 5)
  const usage = (await value('claim_usage_duration_seconds_sum')) ?? 0
  const isClaimed = Date.parse(claimedAt ?? '')
  expect(usage).toBeCloseTo(lifetime - (isClaimed - created) / 1_000, 5)
  expect(await value('claim_usage_expected_ratio_sum')).toBeCloseTo(usage / ((expiresAt - isClaimed) / 1_000), 5)
})

test('the lifetime of a claim that expires is observed, too', async () => {
  const { id } = await operator.take({ ttl: '1s' })
  await until('the claim expires', () => history.claim(id)?.deletedAt !== undefined)
  await until('its lifetime is observed', async () => (await value('claim_lifetime_duration_seconds_count')) === 2)
  for (const name of HISTOGRAMS.slice(2)) expect(await value(`${name}_count`)).toBe(2)
  expect(await value('claim_lifetime_expected_ratio_bucket{le="0.9"}')).toBe(1)
  expect(await values(COUNTERS)).toMatchObject({ claims_released_total: 1, timedout_claims_total: 0 })
  expect(operator.complaints).toEqual([])
  await operator.stop()
})
