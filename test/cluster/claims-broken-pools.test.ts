/** Tests that a pool whose members never become ready does not slow another one, and recovers when it is repaired. */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ClaimsFixture, type ClaimsProcess, TEMPLATE, UNSCHEDULABLE } from './programs-under-test/claims.ts'
import { ClaimHistory } from './support/claim-history.ts'
import { PoolMembers } from './support/pool-members.ts'
import { WriteLatency } from './support/write-latency.ts'

const POLL_OPTIONS = { timeout: 60_000, interval: 100 }
const COUNT = 3
/** Milliseconds: the shortest pause of a pool whose members fail. A repair does not wait for it. */
const MIN_BACKOFF_MS = 10_000

/** Values and templates that never give a ready member. */
const BROKEN = {
  pending: { template: TEMPLATE, values: UNSCHEDULABLE },
  refused: { template: TEMPLATE.replace('spec:', 'spec:\n  restartPolicy: Sometimes'), values: '' },
  unpulled: {
    template: TEMPLATE.replace('spec:', '  annotations: {tenure.dev/simulate-pull-failure: "true"}\nspec:'),
    values: '',
  },
} as const
const NAMES = ['pending', 'refused', 'unpulled'] as const

interface ShownPool {
  readonly name: string
  readonly ready: number
  readonly pending: number
  readonly failing: number
  readonly lastFailure?: string
  readonly nextAttemptAt?: string
}

let fixture: ClaimsFixture
let history: ClaimHistory
let latency: WriteLatency
let operator: ClaimsProcess

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig())
  history = await ClaimHistory.open(fixture.admin.client, fixture.namespace)
  latency = await WriteLatency.open(fixture.admin.client, fixture.namespace)
  const pools: Record<string, object> = { working: { count: COUNT } }
  for (const name of NAMES) pools[name] = await write(name, BROKEN[name])
  const env = { CONFIG_PATH: await fixture.write('config.json', { pools }) }
  operator = await fixture.start('only', { env })
  await operator.whenReady()
})

afterAll(async () => {
  await latency.close()
  await history.close()
  await fixture.close()
})

async function write(name: string, texts: { readonly template: string; readonly values: string }): Promise<object> {
  const templatePath = await fixture.write(`${name}.yaml`, texts.template)
  return { templatePath, valuesPath: await fixture.write(`${name}-values.yaml`, texts.values), count: COUNT }
}

async function shown(name: string): Promise<ShownPool | undefined> {
  const { pools } = (await (await operator.fetch('/claims')).json()) as { readonly pools: readonly ShownPool[] }
  return pools.find((pool) => pool.name === name)
}

const made = (pool: string): number =>
  history.claims.filter(({ versions }) => versions[0]?.metadata.labels?.['claim-controller.io/pool'] === pool).length

test('the list of pools, an Event and a metric say why members fail', async () => {
  await expect.poll(() => shown('pending'), POLL_OPTIONS).toMatchObject({ ready: 0, pending: COUNT, failing: 0 })
  for (const [name, reason] of [
    ['refused', /restartPolicy/],
    ['unpulled', /ImagePullBackOff: Back-off pulling image nginx/],
  ] as const) {
    await expect
      .poll(() => shown(name), POLL_OPTIONS)
      .toMatchObject({ ready: 0, lastFailure: expect.stringMatching(reason), nextAttemptAt: expect.any(String) })
    await expect
      .poll(async () => (await fixture.events()).join('\n'), POLL_OPTIONS)
      .toContain(`PoolFailing Members of the pool ${name} fail: `)
    expect((await operator.metrics()).get(`claim_controller_pool_failing{pool="${name}"}`)).toBe(1)
  }
  expect((await operator.metrics()).get('claim_controller_pool_failing{pool="working"}')).toBe(0)
})

test('a pool beside them hands out warm claims as quickly as the API server writes', async () => {
  const working = new PoolMembers(fixture.admin.client, fixture.namespace, 'working')
  const durations: number[] = []
  for (let turn = 0; turn < 10; turn++) {
    await working.whenFull(COUNT)
    const started = performance.now()
    const { id, preProvisioned } = await operator.take({ pool: 'working' })
    durations.push(performance.now() - started)
    expect(preProvisioned).toBe(true)
    expect((await operator.release(id)).status).toBe(204)
  }
  const [, , , , , median = Infinity] = durations.toSorted((a, b) => a - b)
  expect(median).toBeLessThan(latency.max * 2)
})

test('pools whose members fail make few of them', () => {
  expect(made('pending')).toBe(COUNT)
  for (const name of ['refused', 'unpulled']) expect(made(name)).toBeLessThanOrEqual(2 * COUNT)
})

test('a pool recovers at once when its template or its values are repaired', async () => {
  const started = performance.now()
  for (const name of NAMES) await write(name, { template: TEMPLATE, values: '' })
  for (const name of NAMES) await new PoolMembers(fixture.admin.client, fixture.namespace, name).whenFull(COUNT)
  expect(performance.now() - started).toBeLessThan(MIN_BACKOFF_MS)
  for (const name of NAMES) {
    expect(await shown(name)).toMatchObject({ ready: COUNT, pending: 0, failing: 0 })
    expect((await operator.metrics()).get(`claim_controller_pool_failing{pool="${name}"}`)).toBe(0)
    expect((await operator.take({ pool: name })).preProvisioned).toBe(true)
  }
  expect(operator.complaints).toEqual([])
  await operator.stop()
})
