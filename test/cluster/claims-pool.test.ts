/** Tests that idle members of pools are replaced when they are outdated or fail, and that claimed ones never are. */
import { mergePatch, type Stored } from '@tenure/kube'
import { ConfigMap, Node, Pod } from '@tenure/kube/kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ClaimsFixture, type ClaimsProcess, TEMPLATE } from './programs-under-test/claims.ts'
import { stateOf } from './support/claim-history.ts'
import { PoolMembers } from './support/pool-members.ts'
import { until } from './support/until.ts'

const POOLS = ['default', 'files', 'nodes'] as const
type PoolName = (typeof POOLS)[number]

let fixture: ClaimsFixture
let operator: ClaimsProcess
let members: Readonly<Record<PoolName, PoolMembers>>
/** The claim that a caller holds of each pool. */
const claimed = new Map<PoolName, Stored<ConfigMap>>()

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig())
  const { client } = fixture.admin
  const { namespace } = fixture
  const of = (pool: PoolName): PoolMembers => new PoolMembers(client, namespace, pool)
  members = { default: of('default'), files: of('files'), nodes: of('nodes') }
  await client.create(ConfigMap, {
    metadata: { name: 'pool-values', namespace },
    data: { 'values.yaml': 'image: a:1' },
  })
  await fixture.write('files.yaml', TEMPLATE)
  await fixture.write('files-values.yaml', 'image: b:1')
  await fixture.write('nodes.yaml', `nodeSelector: {example.com/pool: ${namespace}}`)
  await createNode('a')
  operator = await start(2)
})

afterAll(async () => {
  for (const name of ['a', 'b']) await fixture.cluster.runKubectl(['delete', 'node', nodeName(name), '--wait=false'])
  await fixture.close()
})

const nodeName = (name: string): string => `${fixture.namespace}-${name}`

/** Creates a simulated node that only the pods of the pool `nodes` use. */
async function createNode(name: string): Promise<void> {
  const labels = { 'example.com/pool': fixture.namespace, 'kubernetes.io/hostname': nodeName(name) }
  const annotations = { 'kwok.x-k8s.io/node': 'fake', 'node.alpha.kubernetes.io/ttl': '0' }
  await fixture.admin.client.create(Node, { metadata: { name: nodeName(name), labels, annotations } })
}

/** Starts the operator with `count` members in each pool. */
async function start(count: number): Promise<ClaimsProcess> {
  const pools = {
    files: { templatePath: fixture.file('files.yaml'), valuesPath: fixture.file('files-values.yaml'), count },
    nodes: { valuesPath: fixture.file('nodes.yaml'), count },
  }
  const env = {
    VALUES_CONFIGMAP_NAME: 'pool-values',
    PRE_PROVISION_CLAIMS_COUNT: String(count),
    CONFIG_PATH: await fixture.write('config.json', { pools }),
  }
  const started = await fixture.start('only', { env })
  await started.whenReady()
  for (const pool of POOLS) await members[pool].whenFull(count)
  return started
}

const hasImage = (image: string) => (pod: Pod) => pod.spec?.containers[0]?.image === image
const claimOf = (pool: PoolName): string => claimed.get(pool)?.metadata.name ?? ''

async function namesOf(pool: PoolName): Promise<readonly string[]> {
  return (await members[pool].claims()).map(({ metadata }) => metadata.name)
}

/** The claims that callers hold exist, and are the same objects. */
async function expectClaimed(): Promise<void> {
  for (const [pool, { metadata }] of claimed) {
    const now = (await members[pool].claims()).filter((claim) => !stateOf(claim).isIdle)
    expect(now.map(({ metadata: { uid } }) => uid)).toEqual([metadata.uid])
    expect(now[0]?.metadata.annotations?.['claim-controller.io/claimed-at']).toBe(
      metadata.annotations?.['claim-controller.io/claimed-at'],
    )
  }
}

test('a pool is filled again after a claim, and claims belong to the ConfigMap of their values', async () => {
  for (const pool of POOLS) {
    const { id, preProvisioned } = await operator.take({ pool })
    expect(preProvisioned).toBe(true)
    const [claim] = (await members[pool].claims()).filter(({ metadata }) => metadata.name === `claim-${id}`)
    if (claim) claimed.set(pool, claim)
  }
  for (const pool of POOLS) await members[pool].whenFull(2)
  expect(claimed.get('default')?.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['pool-values'])
  expect(claimed.get('files')?.metadata.ownerReferences).toBeUndefined()
  await expectClaimed()
})

test('a change of the template, of the values file or of the values ConfigMap replaces idle members alone', async () => {
  const { client } = fixture.admin
  const before = await Promise.all([members.default.pod(claimOf('default')), members.files.pod(claimOf('files'))])
  await client.patch(
    ConfigMap,
    { name: 'pool-values', namespace: fixture.namespace },
    mergePatch({ data: { 'values.yaml': 'image: a:2' } }),
  )
  await fixture.write('files.yaml', TEMPLATE.replace('name: main', 'name: other'))
  await members.default.whenFull(2, hasImage('a:2'))
  await members.files.whenFull(2, ({ spec }) => spec?.containers[0]?.name === 'other')
  await fixture.write('files-values.yaml', 'image: b:2')
  await members.files.whenFull(2, hasImage('b:2'))
  await expectClaimed()
  const after = await Promise.all([members.default.pod(claimOf('default')), members.files.pod(claimOf('files'))])
  expect(after.map((pod) => pod?.metadata.uid)).toEqual(before.map((pod) => pod?.metadata.uid))
})

test('a member whose pod fails or is evicted is replaced, and a claimed one is not', async () => {
  const { client } = fixture.admin
  const { namespace } = fixture
  const [failed = '', evicted = ''] = await members.files.whenFull(2)
  const end = (name: string, status: object) =>
    client.patch(Pod, { name, namespace }, mergePatch({ status: { phase: 'Failed', ...status } }), {
      subresource: 'status',
    })
  await end(failed, { message: 'the disk is full' })
  await end(evicted, { reason: 'Evicted', message: 'The node was low on resource: memory' })
  await end(claimOf('files'), { reason: 'Evicted' })
  await until('both members are gone', async () => {
    const names = (await members.files.claims()).map(({ metadata }) => metadata.name)
    return !names.includes(failed) && !names.includes(evicted)
  })
  await members.files.whenFull(2)
  await until('the claim has failed', async () => {
    const held = (await members.files.claims()).find(({ metadata }) => metadata.name === claimOf('files'))
    return held !== undefined && stateOf(held).status === 'failed'
  })
  await expectClaimed()
  await expect
    .poll(async () => (await fixture.events()).join('\n'), { timeout: 60_000, interval: 100 })
    .toContain(`MemberReplaced The member of the pool files was removed: it cannot become ready ${failed}`)
})

test('members move to another node when theirs is drained, and a claimed one stays the same claim', async () => {
  const isOn = (node: string) => (pod: Pod) => pod.spec?.nodeName === nodeName(node)
  await members.nodes.whenFull(2, isOn('a'))
  await createNode('b')
  await fixture.cluster.kubectl(['drain', nodeName('a'), '--force', '--ignore-daemonsets', '--timeout=60s'])
  await members.nodes.whenFull(2, isOn('b'))
  await expectClaimed()
  // The claim gets its pod back.
  await until('the pod of the claim is on the other node', async () => {
    const pod = await members.nodes.pod(claimOf('nodes'))
    return pod !== undefined && isOn('b')(pod)
  })
})

test('claims end with the ConfigMap of their values, and the pool is filled when it is there again', async () => {
  const { client } = fixture.admin
  const { namespace } = fixture
  await client.delete(ConfigMap, { name: 'pool-values', namespace })
  await until('the claims are gone', async () => (await members.default.claims()).length === 0)
  claimed.delete('default')
  const { status, text } = await operator.post('/claim')
  expect([status, text]).toEqual([
    500,
    expect.stringContaining('the ConfigMap pool-values with the values does not exist'),
  ])
  await client.create(ConfigMap, {
    metadata: { name: 'pool-values', namespace },
    data: { 'values.yaml': 'image: a:3' },
  })
  await members.default.whenFull(2, hasImage('a:3'))
})

test('a restart with a lower count removes members, and a claimed one stays', async () => {
  const before = await Promise.all(POOLS.map(namesOf))
  await operator.stop()
  operator = await start(1)
  // The members that remain are those of before.
  for (const [at, pool] of POOLS.entries())
    expect(before[at]).toEqual(expect.arrayContaining([...(await namesOf(pool))]))
  await expectClaimed()

  for (const name of claimed.values()) expect((await operator.release(name.metadata.name.slice(6))).status).toBe(204)
  expect(operator.complaints).toEqual([])
  await operator.stop()
})
