/** Tests three operator processes: all serve HTTP, one leads, and a failover loses nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ApplicationsFixture, type Replica } from './programs-under-test/applications.ts'
import { monotonic } from './programs-under-test/child.ts'
import { until } from './support/until.ts'

const APPLICATIONS = 20
/** Milliseconds: 15 s until the lease expires, 2 s until the next check, and some slack. */
const TAKEOVER_MS = 15_000 + 2_000 + 1_000
/** Milliseconds: a released lease is noticed at the next check. */
const HANDOVER_MS = 2_000 + 3_000

let fixture: ApplicationsFixture

beforeAll(async () => {
  fixture = await ApplicationsFixture.open(workerKubeconfig())
})

afterAll(() => fixture.close())

const names = Array.from({ length: APPLICATIONS }, (_, index) => `app-${index + 10}`)
const route = (): string => `/apis/cloudnative.elide.dev/v1/namespaces/${fixture.namespace}/applications`

async function leadersAmong(replicas: readonly Replica[]): Promise<readonly Replica[]> {
  const answers = await Promise.all(replicas.map((replica) => replica.json('/leader')))
  return replicas.filter((_, index) => answers[index]?.['isLeader'] === true)
}

async function leaderAmong(replicas: readonly Replica[]): Promise<Replica> {
  let leaders: readonly Replica[] = []
  await until('one leads', async () => (leaders = await leadersAmong(replicas)).length > 0)
  const [leader] = leaders
  if (!leader || leaders.length > 1) throw new Error(`${leaders.length} replicas lead`)
  return leader
}

function post(replica: Replica, name: string): Promise<Response> {
  return replica.send('POST', route(), { metadata: { name }, spec: { replicas: 1, image: 'nginx:1.29' } })
}

test('a killed leader is replaced without loss, and a stopped one hands over', async () => {
  const replicas = [await fixture.start('first'), await fixture.start('second'), await fixture.start('third')]
  for (const replica of replicas) await replica.whenReady()
  const leader = await leaderAmong(replicas)
  const others = replicas.filter((replica) => replica !== leader)
  const identity = (await leader.json('/leader'))?.['identity']
  for (const replica of replicas) {
    expect((await replica.fetch('/readyz')).status).toBe(200)
    // A replica reports the other's election with a delay of up to half a second.
    await expect
      .poll(() => replica.json('/readyz'), { timeout: 30_000, interval: 50 })
      .toEqual({ status: 'ready', isLeader: replica === leader, leader: identity })
  }

  // Half of the creates go to a follower before and half after the leader is killed, some of them concurrently.
  const [follower] = others
  if (!follower) throw new Error('There is no follower')
  for (const name of names.slice(0, APPLICATIONS / 2)) expect((await post(follower, name)).status).toBe(201)
  const killed = leader.child.signal('SIGKILL')
  for (const name of names.slice(APPLICATIONS / 2)) expect((await post(follower, name)).status).toBe(201)
  expect((await follower.fetch('/readyz')).status).toBe(200)
  const successor = await leaderAmong(others)
  expect(monotonic() - killed).toBeLessThan(TAKEOVER_MS)

  await fixture.whenReady(...names)
  const columns = 'custom-columns=:metadata.name,:status.readyReplicas,:status.availableReplicas'
  const listed = await fixture.kubectl('get', 'deployments', '--no-headers', '-o', columns)
  const rows = listed
    .trim()
    .split('\n')
    .map((row) => row.replaceAll(/ +/g, ' '))
  expect(rows).toEqual(names.map((name) => `${name} 1 1`))

  // After a clean stop the third replica takes over at once.
  const [third] = others.filter((replica) => replica !== successor)
  if (!third) throw new Error('There is no third replica')
  const stopped = successor.child.signal('SIGTERM')
  await leaderAmong([third])
  expect(monotonic() - stopped).toBeLessThan(HANDOVER_MS)
  expect(await successor.child.ended).toMatchObject({ code: 0 })
  const put = await third.send('PUT', `${route()}/app-10`, { spec: { replicas: 2, image: 'nginx:1.29' } })
  expect(put.status).toBe(200)
  await fixture.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=2', '--timeout=90s', 'application/app-10')
  expect((await third.json('/leader'))?.['lease']).toMatchObject({ leaderTransitions: 2, leaseDuration: 15_000 })

  await fixture.kubectl('delete', 'applications', '--all', '--timeout=90s')
  for (const replica of [successor, third]) expect(replica.complaints).toEqual([])
  await fixture.stop(third)
})
