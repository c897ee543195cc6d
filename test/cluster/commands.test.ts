/** Runs `tenure status`, `get`, `events` and `doctor` as processes against a real API server. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ApplicationsFixture } from './programs-under-test/applications.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const POLL_OPTIONS = { timeout: 90_000, interval: 500 }
const LEASE = 'object-lease-controller.ullberg.us'

interface Finding {
  readonly check: string
  readonly level: string
  readonly message: string
}

interface Result {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

let fixture: ApplicationsFixture

beforeAll(async () => {
  fixture = await ApplicationsFixture.open(workerKubeconfig())
  const operator = await fixture.start('only')
  await operator.whenReady()
  await fixture.apply('shop', { replicas: 2, image: 'docker.io/library/nginx:1.29' })
  await fixture.kubectl('create', 'configmap', 'preview')
  await fixture.kubectl('annotate', 'configmap', 'preview', `${LEASE}/ttl=1h30`)
  // As the manifest has it; it runs no pods, because the operator is a process of this test.
  const deployments = (await fixture.deployed((kind) => kind === 'Deployment')) as { items: { spec: object }[] }
  const [deployment] = deployments.items
  await fixture.cluster.kubectl(['apply', '-f', '-'], {
    stdin: { ...deployment, spec: { ...deployment?.spec, replicas: 0 } },
  })
  await fixture.whenReady('shop')
})

afterAll(async () => {
  await fixture.cluster.kubectl(['-n', fixture.home, 'delete', 'deployment', '--all'])
  await fixture.close()
})

function tenure(args: readonly string[], kubeconfig = fixture.cluster.kubeconfig): Promise<Result> {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...args, '--kubeconfig', kubeconfig]
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: ROOT, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

async function findings(): Promise<readonly Finding[]> {
  const { code, stdout } = await tenure(['doctor', '-o', 'json'])
  const report = JSON.parse(stdout) as { readonly problems: number; readonly findings: readonly Finding[] }
  // Other tests leave Leases of operators that have ended.
  expect(code).toBe(report.problems === 0 ? 0 : 1)
  return report.findings.filter(({ message }) => !/Lease /.test(message) || message.includes(fixture.home))
}

test('status counts the Application, names its leader and says what is wrong with a lease', async () => {
  const { code, stdout } = await tenure(['status', '-n', fixture.namespace])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Applications +1 +1 +- +.*\bonly\S* in elide-system/m)
  expect(stdout).toMatch(new RegExp(`^! ConfigMap ${fixture.namespace}/preview  Invalid TTL: `, 'm'))
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

test('get lists the Application, also for a user who may not see the rest', async () => {
  const { stdout } = await tenure(['get', 'applications', '-n', fixture.namespace])
  expect(stdout).toMatch(new RegExp(`^${fixture.namespace} +shop +Running +2/2 `, 'm'))
  // The operator's account may not list LeaseControllers or Nodes.
  const { stdout: all, stderr } = await tenure(
    ['get', 'all', '-n', fixture.namespace, '-o', 'name'],
    fixture.kubeconfig,
  )
  expect(all.split('\n')).toContain('application.cloudnative.elide.dev/shop')
  expect(stderr).toMatch(/^Not shown, because you may not list them .*\n$/)
})

test('get -w shows a change', async () => {
  const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', 'get', 'app', '-w', '-n', fixture.namespace]
  const child = execFile(process.execPath, [...command, '--kubeconfig', fixture.cluster.kubeconfig], { cwd: ROOT })
  let output = ''
  child.stdout?.on('data', (text: string) => (output += text))
  try {
    await expect.poll(() => output, POLL_OPTIONS).toMatch(/^ADDED .* shop +Running +2\/2/m)
    await fixture.kubectl('scale', 'application', 'shop', '--replicas=3')
    await expect.poll(() => output, POLL_OPTIONS).toMatch(/^MODIFIED .* shop +\w+ +3\/3/m)
  } finally {
    child.kill()
  }
})

test('events shows those of the Application and of its pods, newest last', async () => {
  const read = async (): Promise<string> => (await tenure(['events', '-n', fixture.namespace])).stdout
  await expect.poll(read, POLL_OPTIONS).toMatch(/ Application\/shop /)
  await expect.poll(read, POLL_OPTIONS).toMatch(/ Pod\/shop-\S+ +/)
  const { stdout } = await tenure(['events', '-n', fixture.namespace, '--kind', 'application', '-o', 'json'])
  const { items } = JSON.parse(stdout) as { items: readonly { readonly kind: string; readonly lastSeen: number }[] }
  expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(['Application']))
  const times = items.map(({ lastSeen }) => lastSeen)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

test('doctor finds the operator in order, and a right that its account lacks', async () => {
  const account = `ServiceAccount ${fixture.home}/elide-operator`
  const rights = async (): Promise<readonly Finding[]> =>
    (await findings()).filter(({ message }) => message.startsWith(account))
  const all = await findings()
  expect(all).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ check: 'API server', level: 'ok', message: expect.stringContaining('Kubernetes v1.') }),
      expect.objectContaining({ check: 'clock', level: 'ok' }),
      expect.objectContaining({
        level: 'ok',
        message: expect.stringContaining('applications.cloudnative.elide.dev is est'),
      }),
      expect.objectContaining({
        check: 'leaders',
        level: 'ok',
        message: expect.stringContaining('leads applications'),
      }),
    ]),
  )
  expect(await rights()).toMatchObject([
    { level: 'ok', message: expect.stringContaining('may do what applications does') },
  ])
  const role = JSON.stringify([{ op: 'remove', path: '/rules/0' }])
  await fixture.cluster.kubectl(['patch', 'clusterrole', 'elide-operator', '--type=json', '-p', role])
  await expect
    .poll(rights, POLL_OPTIONS)
    .toMatchObject([
      { level: 'problem', message: expect.stringContaining('may not: get applications.cloudnative.elide.dev') },
    ])
})
