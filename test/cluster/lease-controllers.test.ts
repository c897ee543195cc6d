/** Tests LeaseControllers on a real cluster: their Deployments, their permissions, and missing permissions. */
import { type ConnectionConfig, RestMapper, SecretValue } from '@tenure/kube'
import {
  LEASE_OPERATOR,
  LEASE_WEBHOOK_SECRET,
  leaseAdmissionRules,
  leaderName,
  leaseAnnotationsWebhook,
  leaseCommands,
  leases,
  type LeasesSettings,
} from '@tenure/leases'
import { type Component, configure, defineOperator, type OperatorContext } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { Webhooks } from '@tenure/runtime/webhooks'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import type { ClusterAccess } from './access.ts'
import { tokenOf } from './support/account.ts'
import { DeployedProcess } from './support/deployed-process.ts'
import { LeaseFixture, type Running } from './support/lease-fixture.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }
const GROUP = 'object-lease-controller.ullberg.us'
const TTL = `${GROUP}/ttl`
/** The example of the seed document. */
const APPLICATIONS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'applications.startpunkt.ullberg.us' },
  spec: {
    group: 'startpunkt.ullberg.us',
    scope: 'Namespaced',
    names: { kind: 'Application', plural: 'applications' },
    versions: [
      {
        name: 'v1alpha2',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const SEED_EXAMPLE = `---
apiVersion: object-lease-controller.ullberg.us/v1alpha1
kind: LeaseController
metadata:
  name: application-controller
spec:
  group: "startpunkt.ullberg.us"
  kind: "Application"
  version: "v1alpha2"
---
apiVersion: object-lease-controller.ullberg.us/v1alpha1
kind: LeaseController
metadata:
  name: deployment-controller
spec:
  group: ""
  kind: "Deployment"
  version: "v1"
`

const APPLICATION_SPEC = { group: 'startpunkt.ullberg.us', kind: 'Application', version: 'v1alpha2' }

let fixture: LeaseFixture
let cluster: ClusterAccess

/** Returns a config like that of a pod with this ServiceAccount. */
async function configOf(account: string): Promise<ConnectionConfig> {
  const token = await tokenOf(cluster, { namespace: fixture.namespace, name: account })
  const { config } = fixture.admin
  return {
    ...config,
    tls: { ...config.tls, certificate: undefined },
    credential: { kind: 'token', token: new SecretValue(token) },
  }
}

/** Creates an account with exactly the permissions that lease admission needs. */
async function admissionAccount(): Promise<ConnectionConfig> {
  await fixture.kubectl('create', 'serviceaccount', 'admission')
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const { namespace } = fixture
  const everywhere = { name: `admission-${fixture.id}` }
  const here = { ...everywhere, namespace }
  const subjects = [{ kind: 'ServiceAccount', name: 'admission', namespace }]
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, ...everywhere })
  const items = [
    { apiVersion, kind: 'ClusterRole', metadata: everywhere, rules: leaseAdmissionRules.cluster },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: everywhere, roleRef: roleRef('ClusterRole'), subjects },
    { apiVersion, kind: 'Role', metadata: here, rules: leaseAdmissionRules.home },
    { apiVersion, kind: 'RoleBinding', metadata: here, roleRef: roleRef('Role'), subjects },
  ]
  await fixture.apply({ apiVersion: 'v1', kind: 'List', items })
  return await configOf('admission')
}

/** Runs a lease controller with its ServiceAccount's token, as its pod would. */
async function startAsServiceAccount(
  name: string,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  more: Partial<LeasesSettings> = {},
): Promise<Running> {
  const account = await configOf(`object-lease-${name}`)
  const { namespace } = fixture
  const settings = {
    ...defaultValues(leases.config),
    ...kind,
    enableLeaderElection: true,
    leaderElectionNamespace: namespace,
    report: `${namespace}/object-lease-${name}-report`,
    ...more,
  }
  const short = { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 500, whenLost: 'campaign' } as const
  return fixture.run(configure(leases, settings), account, short)
}

/** Runs the container of a Deployment as a process. */
const startDeployed = (name: string): Promise<DeployedProcess> =>
  DeployedProcess.start(cluster, { namespace: fixture.namespace, name })

/**
 * Returns the permissions of a ServiceAccount in a namespace, one `get pods` line each, from `kubectl auth can-i
 * --list`.
 */
async function rightsOf(account: string, namespace: string): Promise<readonly string[]> {
  const as = `--as=system:serviceaccount:${fixture.namespace}:${account}`
  // Impersonates the groups that every ServiceAccount belongs to.
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${fixture.namespace}`, 'system:authenticated']
  const asGroups = groups.map((group) => `--as-group=${group}`)
  const text = await cluster.kubectl(['auth', 'can-i', '--list', '--no-headers', '-n', namespace, as, ...asGroups])
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .toSorted()
}

beforeAll(async () => {
  fixture = await LeaseFixture.open(workerKubeconfig(), [
    { group: '', plural: 'configmaps' },
    { group: '', plural: 'pods' },
    { group: 'apps', plural: 'deployments' },
    { group: 'startpunkt.ullberg.us', plural: 'applications' },
  ])
  cluster = fixture.cluster
})

afterEach(() => fixture.clear())

afterAll(async () => {
  await cluster.kubectl(['delete', 'crd', APPLICATIONS.metadata.name, '--wait=false', '--ignore-not-found'])
  await fixture.close()
})

describe('dedicated controllers', () => {
  test("the seed's examples are deployed at once, or when their kind appears", async () => {
    const first = await fixture.startOperator()
    await fixture.apply(SEED_EXAMPLE)
    await fixture.waitForReady('deployment-controller')
    const deployed = await cluster.kubectl(['get', 'leasecontroller', 'deployment-controller', '-o', 'json'])
    expect((JSON.parse(deployed) as { status: unknown }).status).toMatchObject({
      observedGeneration: 1,
      mode: 'dedicated',
      target: 'deployments.apps/v1',
      note: 'the core group has no Deployment; using apps/v1',
      resource: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
    })
    expect(await fixture.ready('application-controller')).toBe('False KindNotServed')
    await fixture.apply(APPLICATIONS)
    await fixture.waitForReady('application-controller')

    // Another operator has nothing to change.
    await first.stop()
    const second = await fixture.startOperator()
    await fixture.applyController('later', { kind: 'Pod' })
    await fixture.waitForReady('later', 'deployment-controller', 'application-controller')
    expect(second.writes.filter((write) => !write.includes('later'))).toEqual([])

    // Deleted and changed objects are restored.
    const deployment = 'object-lease-deployment-controller'
    await fixture.kubectl('delete', 'deployment,serviceaccount', deployment)
    await cluster.kubectl(['delete', 'clusterrolebinding', deployment])
    const evil = '{"spec":{"selector":{"app":"evil"}}}'
    await fixture.kubectl('patch', 'service', `${deployment}-metrics`, '--type=merge', '-p', evil)
    const selected = ['service', `${deployment}-metrics`, '-o', 'jsonpath={.spec.selector}']
    await expect
      .poll(() => fixture.kubectl('get', ...selected), POLL_OPTIONS)
      .toBe(`{"app.kubernetes.io/instance":"${deployment}"}`)
    await expect
      .poll(async () => (await cluster.runKubectl(['get', 'clusterrolebinding', deployment])).code, POLL_OPTIONS)
      .toBe(0)
    await fixture.waitForReady('deployment-controller')
    const printed = (await cluster.kubectl(['get', 'leasecontrollers', '--no-headers'])).split('\n')
    expect(printed[1]).toMatch(/^deployment-controller +deployments\.apps\/v1 +dedicated +True/)

    // Deleting the LeaseController deletes all its objects.
    await cluster.kubectl(['delete', 'leasecontroller', 'deployment-controller'])
    const selector = `app.kubernetes.io/instance=${deployment}`
    const kinds = 'deployments,services,serviceaccounts,roles,rolebindings,leases,clusterroles,clusterrolebindings'
    const left = (): Promise<string> => cluster.kubectl(['get', kinds, '-A', '-l', selector, '-o', 'name'])
    await expect.poll(left, { timeout: 120_000, interval: 500 }).toBe('')
  })

  test('a dedicated controller may access only its kind', async () => {
    await fixture.startOperator()
    await fixture.applyController('maps', { kind: 'ConfigMap', version: 'v1' })
    await fixture.applyController('jobs', { group: 'batch', kind: 'Job', optIn: { key: 'leased' }, cleanup: true })
    await fixture.waitForReady('maps', 'jobs')

    // The permissions that every ServiceAccount has.
    await fixture.kubectl('create', 'serviceaccount', 'unprivileged')
    const everybody = new Set([
      ...(await rightsOf('unprivileged', fixture.namespace)),
      ...(await rightsOf('unprivileged', fixture.elsewhere)),
    ])
    const own = async (account: string, namespace: string): Promise<readonly string[]> =>
      (await rightsOf(account, namespace)).filter((line) => !everybody.has(line))
    const maps = ['configmaps [] [] [get list watch patch delete]', 'events.events.k8s.io [] [] [create patch]']
    expect(await own('object-lease-maps', fixture.elsewhere)).toEqual(maps)
    expect(await own('object-lease-maps', fixture.namespace)).toEqual(
      [
        ...maps,
        'leases.coordination.k8s.io [] [] [create]',
        `leases.coordination.k8s.io [] [${leaderName({ group: '', version: 'v1', kind: 'ConfigMap' })}] [get update]`,
        'leases.coordination.k8s.io [] [object-lease-maps-report] [patch]',
      ].toSorted(),
    )
    expect(await own('object-lease-jobs', fixture.elsewhere)).toEqual(
      [
        'configmaps [] [] [get]',
        'events.events.k8s.io [] [] [create patch]',
        // Its kind, and what a cleanup job needs.
        'jobs.batch [] [] [get list watch patch delete create]',
        'namespaces [] [] [list watch]',
        // The controller reads their annotations. It never gets access to Secrets.
        'serviceaccounts [] [] [get]',
      ].toSorted(),
    )
  })

  test('a dedicated controller is deployed with valid arguments', async () => {
    await fixture.startOperator()
    await fixture.applyController('maps', { kind: 'ConfigMap', version: 'v1' })
    await fixture.waitForReady('maps')
    const program = await startDeployed('object-lease-maps')
    try {
      await fixture.kubectl('create', 'configmap', 'short')
      await fixture.kubectl('annotate', 'configmap', 'short', `${TTL}=1s`)
      const isLeft = (): Promise<string> =>
        fixture.kubectl('get', 'configmap', 'short', '--ignore-not-found', '-o', 'name')
      await expect.poll(isLeft, POLL_OPTIONS).toBe('')
      expect({ hasEnded: program.child.hasEnded, output: program.child.output }).toMatchObject({ hasEnded: false })
    } finally {
      await program.end()
    }
  })

  test('cleanup jobs use only what the LeaseController, a ServiceAccount or a Secret allows', async () => {
    await fixture.startOperator()
    const cleanup = { images: ['busybox:*'], secrets: ['listed'] }
    await fixture.applyController('maps', { kind: 'ConfigMap', cleanup })
    await fixture.waitForReady('maps')
    const program = await startDeployed('object-lease-maps')
    try {
      await fixture.kubectl('create', 'configmap', 'scripts', '--from-literal=bye=true')
      for (const account of ['admin', 'cleaner']) await fixture.kubectl('create', 'serviceaccount', account)
      await fixture.kubectl('annotate', 'serviceaccount', 'cleaner', `${GROUP}/allow-cleanup-jobs=true`)
      for (const secret of ['granted', 'db']) {
        await fixture.kubectl('create', 'secret', 'generic', secret)
        await fixture.kubectl('annotate', 'secret', secret, `${GROUP}/allow-cleanup-jobs=true`)
      }
      // As in the guide.
      await fixture.kubectl('create', 'role', 'read', '--verb=get', '--resource=secrets', '--resource-name=granted')
      const account = `--serviceaccount=${fixture.namespace}:object-lease-maps`
      await fixture.kubectl('create', 'rolebinding', 'read', '--role=read', account)
      const lease = async (name: string, more: Readonly<Record<string, string>>): Promise<void> => {
        const given = { ttl: '1s', 'on-delete-job': 'scripts/bye', 'job-on-failure': 'delete', ...more }
        const annotations = Object.fromEntries(Object.entries(given).map(([key, value]) => [`${GROUP}/${key}`, value]))
        const metadata = { name, namespace: fixture.namespace, annotations }
        await fixture.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
      }
      await lease('image', { 'job-image': 'evil:1' })
      await lease('account', { 'job-service-account': 'admin' })
      await lease('secret', { 'job-env-secrets': 'db' })
      await lease('plain', {})
      await lease('allowed', {
        'job-image': 'busybox:1.36',
        'job-service-account': 'cleaner',
        'job-env-secrets': 'listed,granted',
      })
      const exists = async (name: string): Promise<boolean> =>
        (await fixture.kubectl('get', 'configmap', name, '--ignore-not-found', '-o', 'name')) !== ''
      for (const name of ['plain', 'allowed']) await expect.poll(() => exists(name), POLL_OPTIONS).toBe(false)
      const status = `jsonpath={.metadata.annotations.object-lease-controller\\.ullberg\\.us/lease-status}`
      const refusals = {
        image: /^Lease expired\..* the image evil:1 is not allowed/,
        account: /^Lease expired\..* the ServiceAccount admin is not allowed; annotate it/,
        secret: /^Lease expired\..* the Secret db is not allowed, and its annotations are not readable/,
      }
      for (const [name, reason] of Object.entries(refusals)) {
        await expect.poll(() => fixture.kubectl('get', 'configmap', name, '-o', status), POLL_OPTIONS).toMatch(reason)
        const events = ['events', '--for', `configmap/${name}`, '-o', 'jsonpath={.items[*].reason}']
        await expect.poll(() => fixture.kubectl(...events), POLL_OPTIONS).toContain('CleanupJobConfigInvalid')
      }
      const used =
        '{range .items[*]}{.spec.template.spec.serviceAccountName} {.spec.template.spec.containers[0].image}\n{end}'
      const jobs = await fixture.kubectl('get', 'jobs', '-l', `${GROUP}/cleanup-job=true`, '-o', `jsonpath=${used}`)
      expect(jobs.trim().split('\n').toSorted()).toEqual(['cleaner busybox:1.36', 'default tenure-cleanup:latest'])
      await fixture.kubectl('delete', 'jobs', '--all', '--wait=false')
      await fixture.kubectl('delete', 'configmaps', 'scripts', ...Object.keys(refusals))
    } finally {
      await program.end()
    }
  })

  test('an object with the name of a child is not adopted', async () => {
    await fixture.startOperator()
    await fixture.kubectl('create', 'serviceaccount', 'object-lease-taken')
    await fixture.applyController('taken', { kind: 'ConfigMap' })
    await expect.poll(() => fixture.ready('taken'), POLL_OPTIONS).toBe('False NameTaken')
    const owners = ['serviceaccount', 'object-lease-taken', '-o', 'jsonpath={.metadata.ownerReferences}']
    expect(await fixture.kubectl('get', ...owners)).toBe('')
    await fixture.kubectl('delete', 'serviceaccount', 'object-lease-taken')
    await fixture.waitForReady('taken')
  })

  test('a dedicated controller works with its permissions, reports missing ones, and recovers', async () => {
    const operator = await fixture.startOperator()
    await fixture.applyController('maps', { kind: { singular: 'ConfigMap', plural: 'configmaps' } })
    await fixture.waitForReady('maps')
    await startAsServiceAccount('maps', { group: '', version: 'v1', kind: 'ConfigMap' })

    const lease = async (name: string, ttl: string): Promise<void> => {
      await fixture.kubectl('create', 'configmap', name)
      await fixture.kubectl('annotate', 'configmap', name, `${TTL}=${ttl}`)
    }
    const exists = async (name: string): Promise<boolean> =>
      (await fixture.kubectl('get', 'configmap', name, '--ignore-not-found', '-o', 'name')) !== ''
    await fixture.kubectl('create', 'secret', 'generic', 'kept')
    await fixture.kubectl('annotate', 'secret', 'kept', `${TTL}=1s`)
    await lease('short', '2s')
    await lease('long', '1h')
    await expect.poll(() => exists('short'), POLL_OPTIONS).toBe(false)
    expect(await exists('long')).toBe(true)
    expect(await fixture.kubectl('get', 'secret', 'kept', '-o', 'name')).toBe('secret/kept\n')
    const figures = ['get', 'leasecontroller', 'maps', '-o', 'jsonpath={.status.activeLeases} {.status.nextExpiry}']
    const ends = `jsonpath={.metadata.annotations.object-lease-controller\\.ullberg\\.us/expire-at}`
    const expireAt = await fixture.kubectl('get', 'configmap', 'long', '-o', ends)
    await expect.poll(() => cluster.kubectl(figures), POLL_OPTIONS).toBe(`1 ${expireAt}`)
    const events = ['events', '--for', 'configmap/short', '-o', 'jsonpath={.items[*].reason}']
    await expect.poll(() => fixture.kubectl(...events), POLL_OPTIONS).toContain('LeaseExpired')

    // While the operator is stopped, the permissions are removed.
    await operator.stop()
    await cluster.kubectl(['delete', 'clusterrolebinding', 'object-lease-maps'])
    const problem = `jsonpath={.metadata.annotations.object-lease-controller\\.ullberg\\.us/problem}`
    const said = (): Promise<string> => fixture.kubectl('get', 'lease', 'object-lease-maps-report', '-o', problem)
    await lease('overdue', '1s')
    await expect.poll(said, POLL_OPTIONS).toContain('Not allowed to')
    expect(await exists('overdue')).toBe(true)

    // The operator restores them and the controller continues.
    await fixture.startOperator()
    await expect.poll(() => exists('overdue'), POLL_OPTIONS).toBe(false)
    await expect.poll(said, POLL_OPTIONS).toBe('')
    await fixture.waitForReady('maps')
  })
})

test('a dedicated controller of a cluster-scoped kind needs no access to namespaces, even with optIn', async () => {
  await fixture.startOperator()
  const kind = { group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass' }
  await fixture.applyController('classes', { ...kind, optIn: { key: 'leased' } })
  await fixture.waitForReady('classes')
  await startAsServiceAccount('classes', kind, { optInLabelKey: 'leased' })
  const name = `leased-${fixture.id}`
  await fixture.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name, annotations: { [TTL]: '2s' } },
    value: 1,
  })
  const left = (): Promise<string> =>
    cluster.kubectl(['get', 'priorityclass', name, '--ignore-not-found', '-o', 'name'])
  await expect.poll(left, POLL_OPTIONS).toBe('')
})

describe('shared controllers', () => {
  test('shared controllers are started, changed and stopped live, also for kinds that appear later', async () => {
    await cluster.runKubectl(['delete', 'crd', APPLICATIONS.metadata.name, '--ignore-not-found'])
    await fixture.startOperator({ leaseControllerMode: 'shared' })
    await fixture.apply(SEED_EXAMPLE)
    await fixture.waitForReady('deployment-controller')
    await expect.poll(() => fixture.ready('application-controller'), POLL_OPTIONS).toBe('False KindNotServed')
    await fixture.apply(APPLICATIONS)
    await fixture.waitForReady('application-controller')
    const stdin = {
      apiVersion: 'startpunkt.ullberg.us/v1alpha2',
      kind: 'Application',
      metadata: { name: 'google', namespace: fixture.elsewhere, annotations: { [TTL]: '2s' } },
      spec: { name: 'Google', url: 'https://google.com' },
    }
    await fixture.apply(stdin)
    const applications = ['-n', fixture.elsewhere, 'get', 'applications.startpunkt.ullberg.us', '-o', 'name']
    await expect.poll(() => cluster.kubectl(applications), POLL_OPTIONS).toBe('')

    // A suspended controller does not expire objects.
    await fixture.applyController('application-controller', { ...APPLICATION_SPEC, suspend: true })
    await expect.poll(() => fixture.ready('application-controller'), POLL_OPTIONS).toBe('False Suspended')
    await fixture.apply(stdin)
    await fixture.applyController('pods', { kind: 'Pod' })
    await fixture.waitForReady('pods')
    expect(await cluster.kubectl(applications)).toContain('google')
    await fixture.applyController('application-controller', APPLICATION_SPEC)
    await expect.poll(() => cluster.kubectl(applications), POLL_OPTIONS).toBe('')
  })

  test('tenure lease sets, lists, extends and clears leases', async () => {
    await fixture.startOperator({ leaseControllerMode: 'shared' })
    await fixture.applyController('maps', { kind: 'ConfigMap' })
    await fixture.waitForReady('maps')
    const lines: string[] = []
    const context = {
      api: fixture.admin.client,
      kinds: new RestMapper(fixture.admin.client.requester),
      clock: fixture.admin.client.requester.clock,
      namespace: fixture.elsewhere,
      write: (text: string) => void lines.push(...text.split('\n')),
      warn: (text: string) => void lines.push(text),
    }
    const tenure = async (name: string, ...args: readonly string[]): Promise<readonly string[]> => {
      lines.length = 0
      await leaseCommands.find((command) => command.name === name)?.run(context, args, {})
      return [...lines]
    }
    for (const name of ['one', 'two']) await cluster.kubectl(['-n', fixture.elsewhere, 'create', 'configmap', name])
    expect(await tenure('set', 'configmap/one', '2h')).toEqual([
      expect.stringMatching(/^configmap\/one expires at .*Z \(in /),
    ])
    await tenure('set', 'cm/two', '1h')
    const listed = async (): Promise<readonly string[]> =>
      (await tenure('list')).filter((line) => line.includes('ConfigMap') && line.includes('Active.'))
    await expect
      .poll(listed, POLL_OPTIONS)
      .toEqual([expect.stringContaining(' two '), expect.stringContaining(' one ')])
    await tenure('extend', 'cm/two', '3h')
    await expect
      .poll(listed, POLL_OPTIONS)
      .toEqual([expect.stringContaining(' one '), expect.stringContaining(' two ')])
    await tenure('clear', 'cm/two')
    expect(await tenure('clear', 'cm/one')).toEqual(['configmap/one will not expire'])
    expect(await listed()).toEqual([])
    await expect
      .poll(
        () => cluster.kubectl(['-n', fixture.elsewhere, 'get', 'cm', 'one', '-o', 'jsonpath={.metadata.annotations}']),
        POLL_OPTIONS,
      )
      .toBe('')
  })
})

describe('admission', () => {
  test('invalid annotations are rejected for any kind, and other objects are not affected', async () => {
    const name = LEASE_OPERATOR
    const account = await admissionAccount()
    const serve = ({ api, informers, clock, random, log, metrics }: OperatorContext): Component => {
      const webhooks = new Webhooks({
        webhooks: [leaseAnnotationsWebhook({ failurePolicy: 'Fail' })],
        secret: { namespace: fixture.namespace, name: LEASE_WEBHOOK_SECRET },
        configuration: { name, address: { url: 'https://127.0.0.1:0' } },
        host: '127.0.0.1',
        port: 0,
        cluster: { api, informers },
        clock,
        random,
        log,
        metrics,
      })
      return { name: 'webhooks', start: (signal) => webhooks.start(signal), stop: (grace) => webhooks.close(grace) }
    }
    const operator = defineOperator({ name, setup: () => ({ components: [{ stage: 'serve', create: serve }] }) })
    const webhook = fixture.run(operator, account)
    try {
      await fixture.kubectl('create', 'configmap', 'checked')
      const annotate = async (...args: readonly string[]): Promise<string> =>
        (await cluster.runKubectl(['-n', fixture.namespace, 'annotate', '--overwrite', ...args])).stderr
      await expect.poll(() => annotate('configmap', 'checked', `${TTL}=1h30`), POLL_OPTIONS).toContain('30 has no unit')
      expect(await annotate('namespace', fixture.elsewhere, `${TTL}=1M`)).toContain('a capital M')
      expect(await annotate('serviceaccount', 'default', `${GROUP}/expires=tomorrow`)).toContain('is not a time')
      expect(await annotate('configmap', 'checked', `${TTL}=1h`)).toBe('')
      expect(await annotate('configmap', 'checked', 'other=1h30')).toBe('')
    } finally {
      // While it runs it would restore its webhook configuration.
      await webhook.stop()
      await cluster.kubectl(['delete', 'validatingwebhookconfiguration', name, '--ignore-not-found'])
      await cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', `admission-${fixture.id}`])
    }
  })
})
