/** Tests `tenure claims` with flags, environment variables and a file, and how it stops and starts again. */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { freePorts } from './free-ports.ts'
import { ClaimsFixture, type ClaimsProcess, type Ports, TEMPLATE } from './programs-under-test/claims.ts'
import { ClaimHistory, lastState } from './support/claim-history.ts'
import { PoolMembers } from './support/pool-members.ts'
import { until } from './support/until.ts'

const SOURCES = ['flag', 'variable', 'file'] as const
type Source = (typeof SOURCES)[number]

/** The settings of the seed document: flag, environment variable and key of the file. */
const SETTINGS = {
  namespace: ['namespace', 'NAMESPACE', 'namespace'],
  templatePath: ['template-path', 'TEMPLATE_PATH', 'templatePath'],
  valuesPath: ['values-path', 'VALUES_PATH', 'valuesPath'],
  apiAddr: ['api-addr', 'API_ADDR', 'apiAddr'],
  metricsAddr: ['metrics-addr', 'METRICS_ADDR', 'metricsAddr'],
  probeAddr: ['health-probe-addr', 'PROBE_ADDR', 'probeAddr'],
  defaultTtl: ['default-ttl', 'DEFAULT_TTL', 'defaultTTL'],
  maxTtl: ['max-ttl', 'MAX_TTL', 'maxTTL'],
  count: ['pre-provision-claims-count', 'PRE_PROVISION_CLAIMS_COUNT', 'preProvisionClaimsCount'],
  reconcileInterval: ['reconcile-interval', 'RECONCILE_INTERVAL', 'reconcileInterval'],
} as const satisfies Readonly<Record<string, readonly [flag: string, variable: string, key: string]>>
type Setting = keyof typeof SETTINGS
type Given = Readonly<Record<Setting, string>>

/** Settings that the operator could not work with. A source that is overridden has them. */
const UNUSABLE: Given = {
  namespace: 'missing-namespace',
  templatePath: '/missing/template.yaml',
  valuesPath: '/missing/values.yaml',
  apiAddr: '192.0.2.1:1',
  metricsAddr: '192.0.2.1:2',
  probeAddr: '192.0.2.1:3',
  defaultTtl: '7s',
  maxTtl: '8s',
  count: '9',
  reconcileInterval: '10s',
}
/** Texts that are not valid. Any text is a namespace or a path. */
const MALFORMED: Partial<Given> = {
  apiAddr: 'nowhere',
  metricsAddr: 'nowhere',
  probeAddr: 'nowhere',
  defaultTtl: 'soon',
  maxTtl: '1x',
  count: 'many',
  reconcileInterval: 'often',
}

let fixture: ClaimsFixture
let history: ClaimHistory
const at: Readonly<Record<Source, number>> = { flag: 0, variable: 1, file: 2 }

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig())
  history = await ClaimHistory.open(fixture.admin.client, fixture.namespace)
})

afterAll(async () => {
  await history.close()
  await fixture.close()
})

const named = (given: Partial<Given>, source: Source): readonly (readonly [string, string])[] =>
  Object.entries(given).map(([setting, value]) => [SETTINGS[setting as Setting][at[source]] ?? '', value])

/** Starts a process with different settings from each source. */
async function run(given: Readonly<Partial<Record<Source, Partial<Given>>>>, ports: Ports): Promise<ClaimsProcess> {
  const { file = {}, flag = {}, variable = {} } = given
  const path = await fixture.write(
    `settings-${Object.keys(given).join('-')}.json`,
    Object.fromEntries(named(file, 'file')),
  )
  const args = named(flag, 'flag').map(([name, value]) => `--${name}=${value}`)
  const env = {
    ...fixture.connection('only'),
    AUTH: 'none',
    CONFIG_PATH: path,
    ...Object.fromEntries(named(variable, 'variable')),
  }
  return fixture.run('only', ports, { args, env })
}

const NO_PORTS: Ports = { api: 0, metrics: 0, probes: 0 }

test.each([
  ['flags override variables and the file', 'flag', 1],
  ['variables override the file', 'variable', 2],
  ['the file overrides the defaults', 'file', 3],
] as const)('%s', async (_, source, count) => {
  const [api = 0, metrics = 0, probes = 0] = await freePorts(3)
  const template = TEMPLATE.replace('fqdn=', `template=${source},values={{ .Values.source }},fqdn=`)
  const usable: Given = {
    namespace: fixture.namespace,
    templatePath: await fixture.write(`${source}.yaml`, template),
    valuesPath: await fixture.write(`${source}-values.yaml`, `source: ${source}`),
    apiAddr: `127.0.0.1:${api}`,
    metricsAddr: `127.0.0.1:${metrics}`,
    probeAddr: `127.0.0.1:${probes}`,
    defaultTtl: `3${count}s`,
    maxTtl: `6${count}s`,
    count: String(count),
    reconcileInterval: `2${count}s`,
  }
  const lower = SOURCES.slice(at[source] + 1).map((each) => [each, UNUSABLE] as const)
  const operator = await run({ ...Object.fromEntries(lower), [source]: usable }, { api, metrics, probes })
  await operator.whenReady()
  await new PoolMembers(fixture.admin.client, fixture.namespace, 'default').whenFull(count)
  for (const [port, path] of [
    [api, '/healthz'],
    [api, '/readyz'],
    [probes, '/healthz'],
    [probes, '/readyz'],
    [metrics, '/metrics'],
  ] as const) {
    expect((await operator.fetch(path, {}, port)).status).toBe(200)
  }
  for (const [body, seconds] of [
    [{}, 30 + count],
    [{ ttl: '1h' }, 60 + count],
  ] as const) {
    const before = Date.now()
    const { data, expiresAt, id } = await operator.take(body)
    expect(data).toMatchObject({ template: source, values: source })
    // Rounded up to whole seconds.
    const end = Date.parse(expiresAt) - seconds * 1_000
    expect(end).toBeGreaterThanOrEqual(before)
    expect(end).toBeLessThan(Date.now() + 1_000)
    expect((await operator.release(id)).status).toBe(204)
  }
  expect(operator.complaints).toEqual([])
  await operator.stop()
  // The Lease is free for the next process.
  expect(await fixture.leader()).toBeUndefined()
})

test('every malformed flag, variable and key of the file is named, and nothing starts', async () => {
  const started = await Promise.all(SOURCES.map((source) => run({ [source]: MALFORMED }, NO_PORTS)))
  for (const [index, source] of SOURCES.entries()) {
    const child = started[index]?.child
    expect(await child?.ended).toMatchObject({ code: 2 })
    expect(child?.output).toContain('tenure claims cannot start, 7 settings are invalid:')
    for (const [name] of named(MALFORMED, source)) expect(child?.output).toMatch(new RegExp(`- (--)?${name}\\b.*: `))
  }
})

test('unknown names, missing files and malformed pools are named, and nothing starts', async () => {
  const connection = fixture.connection('only')
  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}): ClaimsProcess =>
    fixture.run('only', NO_PORTS, { args, env: { ...connection, ...env } })
  const pools = await fixture.write('pools.json', { pools: { chrome: { count: 'many' } } })
  const unknown = await fixture.write('unknown.json', { preProvisionClaimCount: 3 })
  const started = [
    [start(['--pre-provision-claim-count=3']), '--pre-provision-claim-count is unknown; did you mean', 2],
    [start([`--config=${unknown}`]), 'preProvisionClaimCount in', 2],
    [
      start([], { CONFIG_PATH: '/missing/config.yaml' }),
      'The configuration file /missing/config.yaml cannot be read',
      2,
    ],
    [start([], { TEMPLATE_PATH: '/missing/template.yaml' }), 'The template /missing/template.yaml cannot be read', 2],
    [start([`--config=${pools}`]), 'pools.chrome.count in the settings file', 2],
  ] as const
  for (const [{ child }, message, code] of started) {
    expect(await child.ended).toMatchObject({ code })
    expect(child.output).toContain(message)
  }
})

test('claims expire exactly after the operator was killed and started again', async () => {
  const first = await fixture.start('only')
  await first.whenReady()
  const lasting = await first.take({ ttl: '4s' })
  const ended = await first.take({ ttl: '1s' })
  await first.child.end()
  // A process of the same name continues its term at once.
  const second = await fixture.start('only')
  await second.whenReady()
  const restarted = Date.now()
  await until('both claims expire', () =>
    [lasting, ended].every(({ id }) => history.claim(id)?.deletedAt !== undefined),
  )
  for (const { id } of [lasting, ended]) {
    const claim = history.claim(id)
    if (!claim) throw new Error('There is no claim')
    const { deletedAt = 0 } = claim
    const { expiresAt } = lastState(claim)
    expect(deletedAt).toBeGreaterThanOrEqual(expiresAt)
    expect(deletedAt).toBeLessThan(Math.max(expiresAt, restarted) + 2_000)
  }
  expect(second.complaints).toEqual([])
  await second.stop()
})
