/** Tests templates that cannot be used, each in its own pool beside a pool that works. */
import { ConfigMap, Pod, Secret, Service } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ClaimsFixture, type ClaimsProcess, TEMPLATE } from './programs-under-test/claims.ts'

const POLL_OPTIONS = { timeout: 60_000, interval: 100 }
const [POD = '', SERVICE = ''] = TEMPLATE.split('---\n')
const named = (text: string, name: string): string => text.replace('name: {{ .Release.Name }}', `name: ${name}`)

/** Templates by pool, with the answer to a claim. */
const FAILING: Readonly<Record<string, readonly [template: string, message: RegExp]>> = {
  fails: [`{{ fail "the image is missing" }}\n${POD}`, /the image is missing/],
  'wrong-type': [`a: {{ .Values.image.tag.name }}\n${POD}`, /template: .*values|nil pointer|can't evaluate/i],
  syntax: [`{{ if }}\n${POD}`, /missing value for if/],
  nothing: ['# nothing\n', /the template renders no resources/],
  'no-name': ['apiVersion: v1\nkind: Pod\n', /document 1 \(Pod\) has no metadata.name/],
  'unknown-kind': [
    `${POD}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n`,
    /no such kind in apiVersion example.com\/v1/,
  ],
  'cluster-scoped': [
    `${POD}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n`,
    /Namespace a is cluster-scoped/,
  ],
}

let fixture: ClaimsFixture
let operator: ClaimsProcess

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig(), { kinds: [Pod, Service], secrets: true })
  const { client } = fixture.admin
  const { namespace } = fixture
  const spec = { containers: [{ name: 'main', image: 'nginx' }] }
  await client.create(Pod, { metadata: { name: 'foreign', namespace, labels: { app: 'theirs' } }, spec })
  const templates: Record<string, string> = {
    ...Object.fromEntries(Object.entries(FAILING).map(([pool, [template]]) => [pool, template])),
    foreign: named(POD, 'foreign'),
    single: named(POD, 'single'),
    invalid: `${named(POD, '{{ .Release.Name }}')}  restartPolicy: Sometimes\n`,
    secret: `${POD}---\napiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Release.Name }}-key}\nstringData: {password: hunter2-{{ .Values.claim.user }}}\n`,
    working: `${POD}---\n${SERVICE}`,
  }
  const pools: Record<string, object> = {}
  for (const [name, template] of Object.entries(templates)) {
    // Half of them fail when their pool is filled, and half when a caller asks.
    const count = Object.keys(FAILING).indexOf(name) % 2 === 0 || name === 'working' ? 1 : 0
    pools[name] = { templatePath: await fixture.write(`${name}.yaml`, template), count }
  }
  const env = { CONFIG_PATH: await fixture.write('config.json', { pools }) }
  operator = await fixture.start('only', { env })
  await operator.whenReady()
})

afterAll(() => fixture.close())

describe('a template that cannot be used', () => {
  test.each(Object.entries(FAILING))('the pool %s answers with the reason', async (pool, [, message]) => {
    const { status, text } = await operator.post('/claim', { pool })
    expect(status).toBe(500)
    expect(text).toMatch(/^failed to create claim: /)
    expect(text).toMatch(message)
  })

  test('every such pool has an Event and a line in the list of pools', async () => {
    const failing = Object.keys(FAILING)
    await expect
      .poll(async () => {
        const events = (await fixture.events()).join('\n')
        return failing.filter((pool) => !events.includes(`The template of the pool ${pool} cannot be used`))
      }, POLL_OPTIONS)
      .toEqual([])
  })

  test('no claim is left behind, and the pool beside works', async () => {
    const { items } = await fixture.admin.client.list(ConfigMap, {
      namespace: fixture.namespace,
      labelSelector: `claim-controller.io/pool in (${Object.keys(FAILING).join(',')})`,
    })
    expect(items).toEqual([])
    const taken = await operator.take({ pool: 'working' })
    expect(taken.data['fqdn']).toBe(`claim-${taken.id}.${fixture.namespace}.svc.cluster.local`)
    expect((await operator.release(taken.id)).status).toBe(204)
  })
})

describe('a fixed name', () => {
  test('an object of another owner is a clear error and is never touched', async () => {
    const { client } = fixture.admin
    const ref = { name: 'foreign', namespace: fixture.namespace }
    const before = await client.get(Pod, ref)
    const { status, text } = await operator.post('/claim', { pool: 'foreign', ttl: '1s' })
    expect([status, text]).toEqual([500, expect.stringContaining('Pod foreign already exists and does not belong')])
    await expect.poll(() => claimsOf('foreign'), POLL_OPTIONS).toBe(0)
    const after = await client.get(Pod, ref)
    expect([after.metadata.uid, after.metadata.labels]).toEqual([before.metadata.uid, { app: 'theirs' }])
    expect(after.metadata.ownerReferences).toBeUndefined()
    expect(after.metadata.deletionTimestamp).toBeUndefined()
    await expect
      .poll(async () => (await fixture.events()).join('\n'), POLL_OPTIONS)
      .toMatch(/ClaimFailed Pod foreign already exists and does not belong to this claim/)
  })

  test('the name of another claim is a clear error until that claim has ended', async () => {
    const first = await operator.take({ pool: 'single' })
    const { status, text } = await operator.post('/claim', { pool: 'single' })
    expect([status, text]).toEqual([500, expect.stringContaining('Pod single already exists and does not belong')])
    const pod = await fixture.admin.client.get(Pod, { name: 'single', namespace: fixture.namespace })
    expect(pod.metadata.ownerReferences?.map(({ name }) => name)).toEqual([`claim-${first.id}`])
    expect((await operator.release(first.id)).status).toBe(204)
    await expect.poll(() => podNames(), POLL_OPTIONS).not.toContain('single')
    const second = await operator.take({ pool: 'single' })
    expect((await operator.release(second.id)).status).toBe(204)
  })
})

test('an object that the API server refuses is a clear error', async () => {
  const { status, text } = await operator.post('/claim', { pool: 'invalid' })
  expect(status).toBe(500)
  expect(text).toMatch(/^failed while waiting for claim readiness: .*restartPolicy/)
  await expect.poll(() => claimsOf('invalid'), POLL_OPTIONS).toBe(0)
})

test('a rendered Secret is created and is never stored in a ConfigMap or an Event', async () => {
  const { client } = fixture.admin
  const { namespace } = fixture
  const { id } = await operator.take({ pool: 'secret', values: { user: 'ada' } })
  const { data } = await client.get(Secret, { name: `claim-${id}-key`, namespace })
  expect(Buffer.from(data?.['password'] ?? '', 'base64').toString()).toBe('hunter2-ada')
  const { items } = await client.list(ConfigMap, { namespace })
  expect(JSON.stringify(items)).not.toContain('hunter2')
  expect((await operator.release(id)).status).toBe(204)
  await expect.poll(async () => (await client.list(Secret, { namespace })).items.length, POLL_OPTIONS).toBe(0)
  expect((await fixture.events()).join('\n')).not.toContain('hunter2')
  expect(operator.child.output).not.toContain('hunter2')
  expect(operator.complaints).toEqual([])
  await operator.stop()
})

async function claimsOf(pool: string): Promise<number> {
  const labelSelector = `claim-controller.io/pool=${pool}`
  return (await fixture.admin.client.list(ConfigMap, { namespace: fixture.namespace, labelSelector })).items.length
}

async function podNames(): Promise<readonly string[]> {
  const { items } = await fixture.admin.client.list(Pod, { namespace: fixture.namespace })
  return items.map(({ metadata }) => metadata.name)
}
