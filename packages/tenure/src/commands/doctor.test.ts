import { applications, applicationDefinition } from '@tenure/applications'
import { claims } from '@tenure/claims'
import { refuse } from '@tenure/controlplane/testing'
import { databases } from '@tenure/databases'
import { ConnectionError, type KubeApi, type Stored, TenureError } from '@tenure/kube'
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  Deployment,
  EndpointSlice,
  ValidatingWebhookConfiguration,
} from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { leaseControllers } from '@tenure/leases'
import { createAuthority } from '@tenure/runtime/certificates'
import { terminalOf } from '@tenure/runtime/cli'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ClusterCommandResult, ClusterFixture } from './cluster/cluster.testing.ts'
import type { ClusterContext, ClusterOptions } from './cluster/context.ts'
import { RequestedLists } from './cluster/lists.ts'
import { checkDefinitions } from './doctor/definitions.ts'
import type { Finding } from './doctor/finding.ts'
import { findInstalled } from './doctor/installed.ts'
import { reportUnconnected, runDoctor } from './doctor/run-doctor.ts'

const operators = [applications, claims, databases, leaseControllers]
const versions = { tenure: '0.1.0', node: '24.0.0' }
const DAY = 86_400_000

let fixture: ClusterFixture

beforeEach(async () => {
  fixture = await ClusterFixture.start()
})

afterEach(() => fixture.stop())

function doctor(options: ClusterOptions = {}, change: Partial<ClusterContext> = {}): Promise<ClusterCommandResult> {
  return fixture.run(
    (context, given) => runDoctor({ ...context, ...change }, given, { operators, versions }),
    [],
    options,
  )
}

/** The findings of a check, apart from those that are fine. */
async function findings(check: string, change: Partial<ClusterContext> = {}): Promise<readonly Finding[]> {
  const { output } = await doctor({ output: 'json' }, change)
  const report = JSON.parse(output) as { readonly findings: readonly Finding[] }
  return report.findings.filter((each) => each.check === check && each.level !== 'ok')
}

function operatorDeployment(image: string): void {
  fixture.server.seed(Deployment, {
    metadata: { name: 'elide-operator', namespace: 'system', labels: { 'app.kubernetes.io/name': 'elide-operator' } },
    spec: {
      selector: { matchLabels: { app: 'elide-operator' } },
      template: {
        metadata: { labels: { app: 'elide-operator' } },
        spec: { serviceAccountName: 'elide', containers: [{ name: 'operator', image, args: ['applications'] }] },
      },
    },
  })
}

function webhook(bundle: string): void {
  fixture.server.seed(ValidatingWebhookConfiguration, {
    metadata: { name: 'elide-operator' },
    webhooks: [
      {
        name: 'validate.example.dev',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: {
          caBundle: Buffer.from(bundle).toString('base64'),
          service: { namespace: 'system', name: 'elide-operator' },
        },
      },
    ],
  })
}

/** An authority of thirty days. */
const authority = (now: number) =>
  createAuthority({ commonName: 'test', validFor: 30 * DAY, clock: new VirtualClock(now), random: seededRandom(1) })

test('a cluster in order has exit code 0, and every check says so', async () => {
  fixture.leader('elide-operator-leader', 'host')
  const { code, output, warnings } = await doctor()
  expect([code, warnings]).toEqual([0, []])
  expect(output).toMatch(/^✓ kubeconfig +the test leads to https:\/\/cluster.example:6443\.$/m)
  expect(output).toMatch(/^✓ API server +Kubernetes v1\.\S+ answers\.$/m)
  expect(output).toMatch(/^✓ clock /m)
  expect(output).toMatch(/^✓ definitions +applications.cloudnative.elide.dev is established/m)
  expect(output).toMatch(/^✓ leaders +host leads applications \(the Lease system\/elide-operator-leader\)\.$/m)
  expect(output).toMatch(/^✓ permissions +You may do what applications does/m)
  expect(output).toMatch(/^- database +No PostgreSQL is named\.$/m)
  expect(output).toMatch(/^✓ versions +This command is Tenure 0.1.0 on Node 24.0.0\.$/m)
  expect(output.endsWith('\nNothing is wrong.')).toBe(true)
})

test('an API server that does not answer is the only finding about the cluster', async () => {
  fixture.server.intercept(() => {
    throw new ConnectionError('TENURE_CONNECTION_REFUSED', 'Nothing listens at 127.0.0.1:1.')
  })
  const { code, output } = await doctor()
  expect(code).toBe(1)
  expect(output).toMatch(/^✗ API server +Nothing listens at 127.0.0.1:1\.\n +→ Is the cluster running/m)
  expect(output).toContain('\n1 problem found.')
})

test('credentials that the API server rejects are explained', async () => {
  fixture.server.intercept(() => refuse(401, 'Unauthorized', 'Unauthorized'))
  expect(await findings('API server')).toMatchObject([
    { level: 'problem', message: expect.stringContaining('rejected the credentials of the test (401)') },
  ])
})

test('without a kubeconfig doctor says how to name one', () => {
  const lines: string[] = []
  const error = new TenureError('TENURE_KUBECONFIG_NOT_FOUND', 'There is no kubeconfig at /x.')
  const output = { terminal: terminalOf({}, {}), write: (text: string) => void lines.push(text) }
  expect(reportUnconnected(output, { output: 'yaml' }, error, versions)).toBe(1)
  expect(lines[0]).toMatch(/^findings:\n- advice: Set KUBECONFIG or --kubeconfig,/)
})

test.each([
  [-2 * 3_600_000, 'problem', 'is 1h59m behind that of the API server.'],
  [2 * 3_600_000, 'problem', 'is 1h59m ahead of that of the API server.'],
  [20_000, 'note', 'ahead of that of the API server: countdowns differ by that.'],
])('a clock that is %i ms ahead is a %s', async (skew, level, message) => {
  const clock = new VirtualClock(fixture.clock.now() + skew)
  expect(await findings('clock', { clock })).toMatchObject([{ level, message: expect.stringContaining(message) }])
})

test('a missing and an old definition are problems where the operator runs', async () => {
  const name = 'applications.cloudnative.elide.dev'
  fixture.leader('elide-operator-leader', 'host')
  const { metadata, spec } = applicationDefinition
  const old = { ...metadata, annotations: { ...metadata?.annotations, 'tenure.dev/definition-version': '1' } }
  fixture.server.seed(CustomResourceDefinition, {
    metadata: old,
    spec,
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  })
  expect(await findings('definitions')).toMatchObject([
    {
      level: 'problem',
      message: expect.stringContaining(`${name} has version 1`),
      advice: expect.stringContaining('deploy/crds'),
    },
  ])
  fixture.server.unseed(CustomResourceDefinition, { name })
  expect(await findings('definitions')).toMatchObject([
    { level: 'problem', message: `${name} is not installed, and applications needs it.` },
  ])
})

test('a definition that is not served says why', async () => {
  const [installed] = await findInstalled([applications], new RequestedLists(fixture.client), fixture.clock.now())
  const checked = async (status: CustomResourceDefinition['status']): Promise<readonly string[]> => {
    const live = { ...applicationDefinition, status } as Stored<CustomResourceDefinition>
    // Every definition is served by the embedded control plane at once.
    const api = { get: () => Promise.resolve(live) } as unknown as Pick<KubeApi, 'get'>
    return (await checkDefinitions(api, installed ? [installed] : [])).map(({ message }) => message)
  }
  const name = 'applications.cloudnative.elide.dev'
  const taken = { type: 'NamesAccepted', status: 'False', reason: 'Taken', message: 'app is taken' }
  expect(await checked({ conditions: [taken] })).toEqual([`${name} is not served: app is taken`])
  expect(await checked({})).toEqual([`${name} is not established.`])
})

test('a stale leader, a Lease without a holder and an operator that was never led are problems', async () => {
  fixture.leader('claim-controller-leader', 'gone', 3_600_000)
  fixture.leader('nest-controller-leader', '')
  operatorDeployment('example.com/tenure:0.1.0')
  expect(await findings('leaders')).toMatchObject([
    { level: 'problem', message: 'The operator applications is installed, and no process has ever led it.' },
    {
      level: 'problem',
      message: expect.stringContaining('gone, which led claims, renewed the Lease system/claim-contro'),
    },
    { level: 'problem', message: 'No process leads databases: the Lease system/nest-controller-leader has no holder.' },
    { level: 'note', message: expect.stringContaining('Nothing runs lease-controllers here') },
  ])
})

test('a ServiceAccount without its roles lacks rights that are named', async () => {
  operatorDeployment('example.com/tenure:0.2.0')
  const subject = { kind: 'ServiceAccount', name: 'elide', namespace: 'system' }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'elide' }
  fixture.server.seed(ClusterRole, {
    metadata: { name: 'elide' },
    rules: [...applications.rbac.cluster, ...(applications.rbac.namespace ?? [])],
  })
  expect(await findings('permissions')).toMatchObject([
    {
      level: 'problem',
      message: expect.stringMatching(
        /^ServiceAccount system\/elide may not: get applications.cloudnative.elide.dev; .* and \d+ more\./,
      ),
      advice: expect.stringContaining('deploy/applications.yaml'),
    },
  ])
  fixture.server.seed(ClusterRoleBinding, { metadata: { name: 'elide' }, roleRef, subjects: [subject] })
  expect(await findings('permissions')).toEqual([])
  expect(await findings('versions')).toMatchObject([
    { level: 'note', message: expect.stringContaining('tenure:0.2.0') },
  ])
})

test('a webhook needs a valid CA bundle and a ready endpoint', async () => {
  webhook(authority(fixture.clock.now()).certificate)
  expect(await findings('webhooks')).toMatchObject([
    {
      level: 'problem',
      message: expect.stringContaining(
        'the Service system/elide-operator has no ready endpoint, so writes that it checks are refused',
      ),
    },
  ])
  fixture.server.seed(EndpointSlice, {
    metadata: { name: 'e', namespace: 'system', labels: { 'kubernetes.io/service-name': 'elide-operator' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
  })
  expect(await findings('webhooks')).toEqual([])
  webhook(authority(fixture.clock.now() - 60 * DAY).certificate)
  expect(await findings('webhooks')).toMatchObject([{ message: expect.stringContaining('its CA bundle expired at') }])
  webhook('nonsense')
  expect(await findings('webhooks')).toMatchObject([
    { message: expect.stringContaining('its CA bundle has no certificate') },
  ])
})

test('a PostgreSQL that does not answer is a problem without its password', async () => {
  fixture.environment = { DATABASE_URL: 'postgres://nest:hunter2@127.0.0.1:1/nest' }
  const { code, output } = await doctor({}, { clock: fixture.clock })
  expect(code).toBe(1)
  expect(output).toMatch(/^✗ database .* The address comes from DATABASE_URL\.$/m)
  expect(output).not.toContain('hunter2')
})

test('checks that the user has no rights for are notes', async () => {
  fixture.server.intercept(({ plural }) => (plural === '' ? undefined : refuse(403, 'Forbidden', 'no')))
  const { code, output } = await doctor()
  expect(code).toBe(0)
  expect(output).toContain('- access ')
  expect(output).toMatch(/^- definitions +You may not read applications\.cloudnative\.elide\.dev\.$/m)
})
