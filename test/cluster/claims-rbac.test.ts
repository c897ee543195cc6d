/**
 * Tests the Role of the claims operator on an API server that enforces it, audits every request and demands permission
 * for owner references: the rules are enough, and none is unused.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { claimRules } from '@tenure/claims'
import { ConfigMap, Pod, Secret, Service } from '@tenure/kube/kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Cluster, startCluster } from './cluster.ts'
import { ClaimsFixture, type ClaimsProcess, TEMPLATE } from './programs-under-test/claims.ts'
import { AuditLog } from './support/audit-log.ts'
import { until } from './support/until.ts'

const FINALIZERS = 'configmaps/finalizers'

/** With a name that an object of the test has. */
const fixed = (text: string): string => text.replace('name: {{ .Release.Name }}', 'name: taken')
const secret = (name: string, more: string): string =>
  `---\napiVersion: v1\nkind: Secret\nmetadata: {name: ${name}${more}}\nstringData: {user: {{ .Values.claim.user | default "guest" }}}\n`

let directory: string
let audit: AuditLog
let cluster: Cluster
const opened: ClaimsFixture[] = []

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tenure-audit-'))
  audit = await AuditLog.create(directory)
  const strict = '--enable-admission-plugins=OwnerReferencesPermissionEnforcement'
  cluster = await startCluster({ apiServerArgs: [...audit.flags, strict] })
})

afterAll(async () => {
  await Promise.all(opened.map((fixture) => fixture.close()))
  await cluster.stop()
  await rm(directory, { recursive: true })
})

const accountOf = ({ namespace }: ClaimsFixture) => audit.user(`system:serviceaccount:${namespace}:claim-controller`)

async function open(...args: Parameters<typeof claimRules>): Promise<ClaimsFixture> {
  const fixture = await ClaimsFixture.open(cluster.kubeconfig, args[0])
  opened.push(fixture)
  return fixture
}

/** Takes, renews and releases a claim, and lets another one expire. */
async function useClaims(fixture: ClaimsFixture, operator: ClaimsProcess, body: object = {}): Promise<void> {
  const { client } = fixture.admin
  const { id } = await operator.take({ ...body, ttl: '60s' }, { key: 'once' })
  expect((await operator.take({ ...body, ttl: '60s' }, { key: 'once' })).id).toBe(id)
  expect((await operator.renew(id, '90s')).status).toBe(200)
  expect((await operator.release(id)).status).toBe(204)
  const expiring = await operator.take({ ...body, ttl: '1s' })
  const ref = { name: `claim-${expiring.id}`, namespace: fixture.namespace }
  await until(
    'the claim expires',
    async () =>
      (await client.list(ConfigMap, { ...ref, fieldSelector: `metadata.name=${ref.name}` })).items.length === 0,
  )
}

/** Removes a child twice: the second Event about its creation is a patch of the first. */
async function removeChild(fixture: ClaimsFixture, id: string): Promise<void> {
  const { client } = fixture.admin
  const ref = { name: `claim-${id}`, namespace: fixture.namespace }
  const { metadata } = await client.get(Service, ref)
  await client.delete(Service, ref)
  await until('the child is created again', async () => {
    const { items } = await client.list(Service, { namespace: ref.namespace })
    return items.some(({ metadata: { name, uid } }) => name === ref.name && uid !== metadata.uid)
  })
}

test('the rules are enough for everything that the operator does, and none is unused', async () => {
  const fixture = await open()
  const { client } = fixture.admin
  const { namespace } = fixture
  await client.create(Pod, {
    metadata: { name: 'taken', namespace },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  })
  await client.create(Service, {
    metadata: { name: 'taken', namespace },
    spec: { clusterIP: 'None', ports: [{ port: 1 }] },
  })
  const [pod = '', service = ''] = TEMPLATE.split('---\n')
  const pools = {
    pod: { templatePath: await fixture.write('pod.yaml', fixed(pod)) },
    service: { templatePath: await fixture.write('service.yaml', fixed(service)) },
    cold: {},
  }
  const env = { PRE_PROVISION_CLAIMS_COUNT: '2', CONFIG_PATH: await fixture.write('config.json', { pools }) }
  const operator = await fixture.start('only', { env })
  await operator.whenReady()
  await useClaims(fixture, operator)
  const { id } = await operator.take()
  await removeChild(fixture, id)
  for (const name of ['pod', 'service']) {
    const { status, text } = await operator.post('/claim', { pool: name })
    expect([status, text]).toEqual([500, expect.stringContaining('already exists and does not belong to this claim')])
  }
  const account = accountOf(fixture)
  // The API server's own check of owner references is not audited.
  await expect
    .poll(() => account.unused(claimRules()), { timeout: 60_000, interval: 100 })
    .toEqual([`update ${FINALIZERS}`])
  expect(await account.refused()).toEqual([])
  expect(operator.complaints).toEqual([])

  await fixture.setRules(claimRules().filter(({ resources }) => !resources?.includes(FINALIZERS)))
  await expect
    .poll(async () => (await operator.post('/claim', { pool: 'cold' })).status, { timeout: 60_000, interval: 100 })
    .toBe(500)
  expect(operator.child.output).toContain('cannot set blockOwnerDeletion')
  await operator.stop()
})

test('the rules for Secrets are enough for values of callers, and none is unused', async () => {
  const kinds = [Pod]
  const fixture = await open({ kinds, secrets: true })
  const [pod = ''] = TEMPLATE.split('---\n')
  const lazy = ', annotations: {claim.controller/lazy-provisionning: "true"}'
  const own = secret('{{ .Release.Name }}-own', '') + secret('{{ .Release.Name }}-user', lazy)
  await fixture.write('template.yaml', pod + own)
  const pools = { taken: { templatePath: await fixture.write('taken.yaml', pod + secret('taken', '')) } }
  await fixture.admin.client.create(Secret, { metadata: { name: 'taken', namespace: fixture.namespace } })
  const env = { PRE_PROVISION_CLAIMS_COUNT: '2', CONFIG_PATH: await fixture.write('config.json', { pools }) }
  const operator = await fixture.start('only', { env })
  await operator.whenReady()
  await useClaims(fixture, operator, { values: { user: 'ada' } })
  expect((await operator.post('/claim', { pool: 'taken' })).status).toBe(500)
  const account = accountOf(fixture)
  const rules = claimRules({ kinds, secrets: true }).filter(({ resources }) => resources?.includes('secrets'))
  await expect.poll(() => account.unused(rules), { timeout: 60_000, interval: 100 }).toEqual([])
  expect(await account.refused()).toEqual([])
  expect(operator.complaints).toEqual([])
  await operator.stop()
})
