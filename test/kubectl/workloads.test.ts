/** Runs workloads with kubectl on the embedded control plane, with its controllers and simulated nodes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { type EmbeddedKubectl, heading, rows, startEmbedded } from './embedded.ts'

const POLL_OPTIONS = { timeout: 30_000, interval: 50 }

let cluster: EmbeddedKubectl
let count = 0
let namespace: string

const kubectl = (...args: readonly string[]): Promise<string> => cluster.in(namespace, args)
const names = async (...what: readonly string[]): Promise<readonly string[]> =>
  (await kubectl('get', ...what, '-o', 'name')).split('\n').filter((name) => name !== '')

beforeAll(async () => {
  cluster = await startEmbedded()
})

afterAll(() => cluster.stop())

beforeEach(async () => {
  namespace = `workloads-${count++}`
  await cluster.kubectl(['create', 'namespace', namespace])
})

async function deploy(replicas = 2): Promise<void> {
  await kubectl('create', 'deployment', 'web', '--image=example.test/web:1', `--replicas=${replicas}`)
  await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
}

describe('a deployment', () => {
  test('a Deployment becomes ready and kubectl shows it', async () => {
    await kubectl('create', 'deployment', 'web', '--image=example.test/web:1', '--replicas=3')
    const status = await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    expect(status).toContain('deployment "web" successfully rolled out')

    const table = await kubectl('get', 'deployments', '-o', 'wide')
    expect(heading(table)).toEqual([
      'NAME',
      'READY',
      'UP-TO-DATE',
      'AVAILABLE',
      'AGE',
      'CONTAINERS',
      'IMAGES',
      'SELECTOR',
    ])
    expect(rows(table)).toEqual([['web', '3/3', '3', '3', expect.any(String), 'web', 'example.test/web:1', 'app=web']])
    const pods = rows(await kubectl('get', 'pods'))
    expect(pods.map(([, ready, phase, restarts]) => [ready, phase, restarts])).toEqual(
      Array.from({ length: 3 }, () => ['1/1', 'Running', '0']),
    )
    const all = await kubectl('get', 'all', '-o', 'name')
    expect(all).toMatch(/pod\/web-[\s\S]*deployment\.apps\/web\nreplicaset\.apps\/web-/)

    const about = await kubectl('describe', 'deployment', 'web')
    expect(about).toMatch(/Replicas:\s+3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable/)
    expect(about).toMatch(/Available\s+True\s+MinimumReplicasAvailable/)
    await expect
      .poll(() => kubectl('describe', 'deployment', 'web'), POLL_OPTIONS)
      .toMatch(/Normal\s+ScalingReplicaSet/)
    expect(await kubectl('describe', 'pods')).toMatch(/Status:\s+Running[\s\S]*Controlled By:\s+ReplicaSet\/web-/)
  })

  test('a Deployment is scaled, awaited, rolled out and rolled back', async () => {
    await deploy()
    expect(await kubectl('scale', 'deployment/web', '--replicas=4')).toBe('deployment.apps/web scaled\n')
    const waited = await kubectl('wait', '--for=jsonpath={.status.readyReplicas}=4', 'deployment/web', '--timeout=60s')
    expect(waited).toBe('deployment.apps/web condition met\n')
    const stale = await cluster.tryIn(namespace, ['scale', 'deployment/web', '--replicas=1', '--current-replicas=9'])
    expect(stale.stderr).toContain('Expected replicas to be 9, was 4')

    expect(await kubectl('set', 'image', 'deployment/web', 'web=example.test/web:2')).toBe(
      'deployment.apps/web image updated\n',
    )
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    const image = (): Promise<string> =>
      kubectl(
        'get',
        'pods',
        '--field-selector=status.phase=Running',
        '-o',
        'jsonpath={.items[*].spec.containers[0].image}',
      )
    await expect
      .poll(async () => new Set((await image()).split(' ')), POLL_OPTIONS)
      .toEqual(new Set(['example.test/web:2']))
    expect(await names('replicasets')).toHaveLength(2)
    expect(rows(await kubectl('rollout', 'history', 'deployment/web')).map(([revision]) => revision)).toContain('2')

    expect(await kubectl('rollout', 'undo', 'deployment/web')).toBe('deployment.apps/web rolled back\n')
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    await expect
      .poll(async () => new Set((await image()).split(' ')), POLL_OPTIONS)
      .toEqual(new Set(['example.test/web:1']))
    expect(await kubectl('rollout', 'restart', 'deployment/web')).toBe('deployment.apps/web restarted\n')
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
  })

  test('wait returns on a condition and on deletion', async () => {
    await deploy(1)
    const met = await kubectl('wait', '--for=condition=Available', 'deployment/web', '--timeout=60s')
    expect(met).toBe('deployment.apps/web condition met\n')
    const never = await cluster.tryIn(namespace, ['wait', '--for=condition=Odd', 'deployment/web', '--timeout=1s'])
    expect(never).toMatchObject({ code: 1, stderr: expect.stringContaining('timed out waiting for the condition') })
    const gone = kubectl('wait', '--for=delete', 'deployment/web', '--timeout=60s')
    await kubectl('delete', 'deployment', 'web')
    await gone
    expect(await names('deployments')).toEqual([])
  })
})

describe('kubectl delete', () => {
  test('background deletion deletes the dependents later', async () => {
    await deploy()
    expect(await kubectl('delete', 'deployment', 'web', '--cascade=background')).toMatch(
      /^deployment\.apps "web" deleted/,
    )
    await expect.poll(() => names('replicasets,pods'), POLL_OPTIONS).toEqual([])
  })

  test('foreground deletion ends when the dependents are gone', async () => {
    await deploy()
    await kubectl('delete', 'deployment', 'web', '--cascade=foreground')
    expect(await names('deployments,replicasets')).toEqual([])
    expect(await names('pods')).toEqual([])
  })

  test('orphaning deletion keeps the dependents', async () => {
    await deploy(1)
    await kubectl('delete', 'deployment', 'web', '--cascade=orphan')
    expect(await names('deployments')).toEqual([])
    expect(await names('replicasets')).toHaveLength(1)
    expect(await kubectl('get', 'replicasets', '-o', 'jsonpath={.items[*].metadata.ownerReferences}')).toBe('')
    await kubectl('delete', 'replicasets', '--all', '--cascade=orphan')
    expect(await names('replicasets')).toEqual([])
    expect(await names('pods')).toHaveLength(1)
    await kubectl('delete', 'pods', '--all', '--grace-period=0', '--force')
    await expect.poll(() => names('pods'), POLL_OPTIONS).toEqual([])
  })

  test('delete takes labels and --all, and reports missing objects', async () => {
    for (const name of ['a', 'b', 'c']) await kubectl('create', 'configmap', name)
    await kubectl('label', 'cm', 'a', 'b', 'own=yes')
    const said = await kubectl('delete', 'cm', '-l', 'own=yes')
    expect(said).toMatch(/^configmap "a" deleted.*\nconfigmap "b" deleted.*\n$/)
    const missing = await cluster.tryIn(namespace, ['delete', 'cm', 'a'])
    expect(missing.stderr).toBe('Error from server (NotFound): configmaps "a" not found\n')
    expect(await kubectl('delete', 'cm', 'a', '--ignore-not-found')).toBe('')
    await kubectl('delete', 'cm', '--all')
    await expect.poll(async () => (await names('cm')).includes('configmap/c'), POLL_OPTIONS).toBe(false)
  })

  test('deleting a namespace deletes everything in it', async () => {
    await deploy(1)
    const said = await cluster.kubectl(['delete', 'namespace', namespace, '--timeout=60s'])
    expect(said).toContain(`namespace "${namespace}" deleted`)
    const missing = await cluster.runKubectl(['get', 'namespace', namespace])
    expect(missing.stderr).toBe(`Error from server (NotFound): namespaces "${namespace}" not found\n`)
  })
})

describe('other workloads', () => {
  test('a Job completes and a Pod runs', async () => {
    await kubectl('create', 'job', 'sum', '--image=example.test/sum:1')
    expect(await kubectl('wait', '--for=condition=Complete', 'job/sum', '--timeout=60s')).toBe(
      'job.batch/sum condition met\n',
    )
    const [row] = rows(await kubectl('get', 'jobs'))
    expect(row?.slice(0, 3)).toEqual(['sum', 'Complete', '1/1'])
    expect(await kubectl('run', 'lone', '--image=example.test/lone:1')).toBe('pod/lone created\n')
    expect(await kubectl('wait', '--for=condition=Ready', 'pod/lone', '--timeout=60s')).toBe('pod/lone condition met\n')
  })

  test('a Service selects its pods', async () => {
    await deploy()
    expect(await kubectl('expose', 'deployment', 'web', '--port=80')).toBe('service/web exposed\n')
    await expect
      .poll(
        () =>
          kubectl(
            'get',
            'endpointslices',
            '-l',
            'kubernetes.io/service-name=web',
            '-o',
            'jsonpath={.items[*].endpoints[*].addresses[0]}',
          ),
        POLL_OPTIONS,
      )
      .toMatch(/^\d+\.\d+\.\d+\.\d+ \d+\.\d+\.\d+\.\d+$/)
  })

  test('a drained node loses its pods and takes pods again after uncordon', async () => {
    await deploy(1)
    const [node] = rows(await cluster.kubectl(['get', 'nodes']))
    expect(node?.[1]).toBe('Ready')
    const name = node?.[0] ?? ''
    const [before] = await names('pods')
    expect(await cluster.kubectl(['drain', name, '--force', '--ignore-daemonsets', '--timeout=60s'])).toContain(
      `node/${name} drained\n`,
    )
    expect(rows(await cluster.kubectl(['get', 'nodes']))[0]?.[1]).toBe('Ready,SchedulingDisabled')
    await expect.poll(() => names('pods', '--field-selector=status.phase=Pending'), POLL_OPTIONS).toHaveLength(1)
    expect(await names('pods')).not.toContain(before)
    expect(await cluster.kubectl(['uncordon', name])).toBe(`node/${name} uncordoned\n`)
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
  })
})

test.each([
  ['exec', 'deployment/web', '--', 'ls'],
  ['attach', 'deployment/web'],
  ['port-forward', 'deployment/web', ':80'],
])('kubectl %s reports that no container runs', async (...args) => {
  await deploy(1)
  const { code, stderr } = await cluster.tryIn(namespace, args)
  expect(code).toBe(1)
  expect(stderr).toContain('Nodes are simulated: no container runs')
  const missing = await cluster.tryIn(namespace, ['exec', 'none', '--', 'ls'])
  expect(missing.stderr).toContain('pods "none" not found')
})
