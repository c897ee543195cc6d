/** LeaseControllers on a real cluster: what they deploy, what that may do, and what happens when it may not. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ConnectionConfig, RestMapper, Secret } from '@tenure/kube'
import {
  dedicatedLeasesOperator,
  defaultLeaseSettings,
  leaderName,
  LEASE_OPERATOR,
  LEASE_WEBHOOK_SECRET,
  leaseAdmissionRules,
  leaseAnnotationsWebhook,
  leaseCommands,
  type LeaseSettings,
  reportLease,
} from '@tenure/leases'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'

import type { ClusterAccess } from './access.ts'
import { Child, ROOT } from './programs-under-test/child.ts'
import { LeaseBed, type Running } from './support/lease-bed.ts'

const SOON = { timeout: 90_000, interval: 100 }
const GROUP = 'object-lease-controller.ullberg.us'
const TTL = `${GROUP}/ttl`
/** The seed's own example. */
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

let bed: LeaseBed
let cluster: ClusterAccess

/** As a pod with that ServiceAccount would connect. */
async function configOf(account: string): Promise<ConnectionConfig> {
  const token = (await bed.kubectl('create', 'token', account, '--duration=1h')).trim()
  const { config } = bed.admin
  return {
    ...config,
    tls: { ...config.tls, certificate: undefined },
    credential: { kind: 'token', token: new Secret(token) },
  }
}

/** Who may do what checking annotations takes, and no more. */
async function admissionAccount(): Promise<ConnectionConfig> {
  await bed.kubectl('create', 'serviceaccount', 'admission')
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const { namespace } = bed
  const everywhere = { name: `admission-${bed.id}` }
  const here = { ...everywhere, namespace }
  const subjects = [{ kind: 'ServiceAccount', name: 'admission', namespace }]
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, ...everywhere })
  const items = [
    { apiVersion, kind: 'ClusterRole', metadata: everywhere, rules: leaseAdmissionRules.cluster },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: everywhere, roleRef: roleRef('ClusterRole'), subjects },
    { apiVersion, kind: 'Role', metadata: here, rules: leaseAdmissionRules.home },
    { apiVersion, kind: 'RoleBinding', metadata: here, roleRef: roleRef('Role'), subjects },
  ]
  await bed.apply({ apiVersion: 'v1', kind: 'List', items })
  return await configOf('admission')
}

/** As the pod of a LeaseController's Deployment would run it, with its ServiceAccount's token. */
async function startAsServiceAccount(
  name: string,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  settings: Partial<LeaseSettings> = {},
): Promise<Running> {
  const account = await configOf(`object-lease-${name}`)
  const { namespace } = bed
  const report = reportLease(`${namespace}/object-lease-${name}-report`)
  const short = { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 500, whenLost: 'campaign' } as const
  const operator = dedicatedLeasesOperator({ kind, report, settings: { ...defaultLeaseSettings, ...settings } })
  return bed.run(operator, account, {
    leaderElection: { name: leaderName(kind), namespace, ...short },
  })
}

/** The container of a Deployment as a process of its own: its arguments and environment, with its ServiceAccount's token. */
async function startDeployed(name: string): Promise<Child> {
  const text = await bed.kubectl('get', 'deployment', name, '-o', 'jsonpath={.spec.template.spec}')
  const { containers, serviceAccountName } = JSON.parse(text) as {
    readonly serviceAccountName: string
    readonly containers: readonly [
      { readonly args: readonly string[]; readonly env: readonly { readonly name: string; readonly value?: string }[] },
    ]
  }
  const [{ args, env }] = containers
  const token = (await bed.kubectl('create', 'token', serviceAccountName)).trim()
  const kubeconfig = JSON.parse(await readFile(inject('kubeconfig'), 'utf8')) as {
    users: readonly { readonly name: string }[]
  }
  kubeconfig.users = kubeconfig.users.map((user) => ({ name: user.name, user: { token } }))
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'tenure-deployed-')), 'kubeconfig')
  await writeFile(file, JSON.stringify(kubeconfig))
  // The ports of a pod are its own, those of this machine are not.
  const ported = args.map((arg) => arg.replace(/(?<=-bind-address=).*$/, '127.0.0.1:0'))
  const named = env.filter(({ value }) => value !== undefined).map(({ name: key, value = '' }) => [key, value] as const)
  const main = path.join(ROOT, 'packages/tenure/src/main.ts')
  return new Child(process.execPath, {
    args: [main, ...ported],
    env: { ...Object.fromEntries(named), KUBECONFIG: file },
  })
}

/** `get pods`: what a ServiceAccount may do in a namespace, one line each, as `kubectl auth can-i --list` knows it. */
async function rightsOf(account: string, namespace: string): Promise<readonly string[]> {
  const as = `--as=system:serviceaccount:${bed.namespace}:${account}`
  // Impersonated groups are what every ServiceAccount is in, as its own token would have it.
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${bed.namespace}`, 'system:authenticated']
  const asGroups = groups.map((group) => `--as-group=${group}`)
  const text = await cluster.kubectl(['auth', 'can-i', '--list', '--no-headers', '-n', namespace, as, ...asGroups])
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .toSorted()
}

beforeAll(async () => {
  bed = await LeaseBed.open(inject('kubeconfig'), [
    { group: '', plural: 'configmaps' },
    { group: '', plural: 'pods' },
    { group: 'apps', plural: 'deployments' },
    { group: 'startpunkt.ullberg.us', plural: 'applications' },
  ])
  cluster = bed.cluster
})

afterEach(() => bed.clear())

afterAll(async () => {
  await cluster.kubectl(['delete', 'crd', APPLICATIONS.metadata.name, '--wait=false', '--ignore-not-found'])
  await bed.close()
})

describe('dedicated controllers', () => {
  test("the seed's examples are deployed: at once, or when their kind appears", async () => {
    const first = await bed.startOperator()
    await bed.apply(SEED_EXAMPLE)
    await bed.waitForReady('deployment-controller')
    const deployed = await cluster.kubectl(['get', 'leasecontroller', 'deployment-controller', '-o', 'json'])
    expect((JSON.parse(deployed) as { status: unknown }).status).toMatchObject({
      observedGeneration: 1,
      mode: 'dedicated',
      target: 'deployments.apps/v1',
      note: 'the core group has no Deployment; the one of apps/v1 is used',
      resource: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
    })
    expect(await bed.ready('application-controller')).toBe('False KindNotServed')
    await bed.apply(APPLICATIONS)
    await bed.waitForReady('application-controller')

    // Another operator finds nothing to do about what is as it should be.
    await first.stop()
    const second = await bed.startOperator()
    await bed.applyController('later', { kind: 'Pod' })
    await bed.waitForReady('later', 'deployment-controller', 'application-controller')
    expect(second.writes.filter((write) => !write.includes('later'))).toEqual([])

    // Anything of it is put right.
    const deployment = 'object-lease-deployment-controller'
    await bed.kubectl('delete', 'deployment,serviceaccount', deployment)
    await cluster.kubectl(['delete', 'clusterrolebinding', deployment])
    const evil = '{"spec":{"selector":{"app":"evil"}}}'
    await bed.kubectl('patch', 'service', `${deployment}-metrics`, '--type=merge', '-p', evil)
    const selected = ['service', `${deployment}-metrics`, '-o', 'jsonpath={.spec.selector}']
    await expect
      .poll(() => bed.kubectl('get', ...selected), SOON)
      .toBe(`{"app.kubernetes.io/instance":"${deployment}"}`)
    await expect
      .poll(async () => (await cluster.runKubectl(['get', 'clusterrolebinding', deployment])).code, SOON)
      .toBe(0)
    await bed.waitForReady('deployment-controller')
    const printed = (await cluster.kubectl(['get', 'leasecontrollers', '--no-headers'])).split('\n')
    expect(printed[1]).toMatch(/^deployment-controller +deployments\.apps\/v1 +dedicated +True/)

    // It goes, and all that was made for it.
    await cluster.kubectl(['delete', 'leasecontroller', 'deployment-controller'])
    const selector = `app.kubernetes.io/instance=${deployment}`
    const kinds = 'deployments,services,serviceaccounts,roles,rolebindings,leases,clusterroles,clusterrolebindings'
    const left = (): Promise<string> => cluster.kubectl(['get', kinds, '-A', '-l', selector, '-o', 'name'])
    await expect.poll(left, { timeout: 120_000, interval: 500 }).toBe('')
  })

  test('may work on their kind, and nothing else', async () => {
    await bed.startOperator()
    await bed.applyController('maps', { kind: 'ConfigMap', version: 'v1' })
    await bed.applyController('jobs', { group: 'batch', kind: 'Job', optIn: { key: 'leased' }, cleanup: true })
    await bed.waitForReady('maps', 'jobs')

    // What any ServiceAccount may do, which is to look up what there is and who it is.
    await bed.kubectl('create', 'serviceaccount', 'nobody')
    const everybody = new Set([
      ...(await rightsOf('nobody', bed.namespace)),
      ...(await rightsOf('nobody', bed.elsewhere)),
    ])
    const own = async (account: string, namespace: string): Promise<readonly string[]> =>
      (await rightsOf(account, namespace)).filter((line) => !everybody.has(line))
    const maps = ['configmaps [] [] [get list watch patch delete]', 'events.events.k8s.io [] [] [create patch]']
    expect(await own('object-lease-maps', bed.elsewhere)).toEqual(maps)
    expect(await own('object-lease-maps', bed.namespace)).toEqual(
      [
        ...maps,
        'leases.coordination.k8s.io [] [] [create]',
        `leases.coordination.k8s.io [] [${leaderName({ group: '', version: 'v1', kind: 'ConfigMap' })}] [get update]`,
        'leases.coordination.k8s.io [] [object-lease-maps-report] [patch]',
      ].toSorted(),
    )
    expect(await own('object-lease-jobs', bed.elsewhere)).toEqual(
      [
        'configmaps [] [] [get]',
        'events.events.k8s.io [] [] [create patch]',
        // Its kind, and what a cleanup job takes.
        'jobs.batch [] [] [get list watch patch delete create]',
        'namespaces [] [] [list watch]',
      ].toSorted(),
    )
  })

  test('are deployed with arguments that the program takes', async () => {
    await bed.startOperator()
    await bed.applyController('maps', { kind: 'ConfigMap', version: 'v1' })
    await bed.waitForReady('maps')
    const program = await startDeployed('object-lease-maps')
    try {
      await bed.kubectl('create', 'configmap', 'short')
      await bed.kubectl('annotate', 'configmap', 'short', `${TTL}=1s`)
      const isLeft = (): Promise<string> => bed.kubectl('get', 'configmap', 'short', '--ignore-not-found', '-o', 'name')
      await expect.poll(isLeft, SOON).toBe('')
      expect({ hasEnded: program.hasEnded, output: program.output }).toMatchObject({ hasEnded: false })
    } finally {
      await program.end()
    }
  })

  test('do their work with just that, say when they may not, and recover', async () => {
    const operator = await bed.startOperator()
    await bed.applyController('maps', { kind: { singular: 'ConfigMap', plural: 'configmaps' } })
    await bed.waitForReady('maps')
    await startAsServiceAccount('maps', { group: '', version: 'v1', kind: 'ConfigMap' })

    const lease = async (name: string, ttl: string): Promise<void> => {
      await bed.kubectl('create', 'configmap', name)
      await bed.kubectl('annotate', 'configmap', name, `${TTL}=${ttl}`)
    }
    const exists = async (name: string): Promise<boolean> =>
      (await bed.kubectl('get', 'configmap', name, '--ignore-not-found', '-o', 'name')) !== ''
    await bed.kubectl('create', 'secret', 'generic', 'kept')
    await bed.kubectl('annotate', 'secret', 'kept', `${TTL}=1s`)
    await lease('short', '2s')
    await lease('long', '1h')
    await expect.poll(() => exists('short'), SOON).toBe(false)
    expect(await exists('long')).toBe(true)
    expect(await bed.kubectl('get', 'secret', 'kept', '-o', 'name')).toBe('secret/kept\n')
    const figures = ['get', 'leasecontroller', 'maps', '-o', 'jsonpath={.status.activeLeases} {.status.nextExpiry}']
    const ends = `jsonpath={.metadata.annotations.object-lease-controller\\.ullberg\\.us/expire-at}`
    const expireAt = await bed.kubectl('get', 'configmap', 'long', '-o', ends)
    await expect.poll(() => cluster.kubectl(figures), SOON).toBe(`1 ${expireAt}`)
    const events = ['events', '--for', 'configmap/short', '-o', 'jsonpath={.items[*].reason}']
    await expect.poll(() => bed.kubectl(...events), SOON).toContain('LeaseExpired')

    // With the operator away, somebody takes the rights away.
    await operator.stop()
    await cluster.kubectl(['delete', 'clusterrolebinding', 'object-lease-maps'])
    const problem = `jsonpath={.metadata.annotations.object-lease-controller\\.ullberg\\.us/problem}`
    const said = (): Promise<string> => bed.kubectl('get', 'lease', 'object-lease-maps-report', '-o', problem)
    await lease('overdue', '1s')
    await expect.poll(said, SOON).toContain('Not allowed to')
    expect(await exists('overdue')).toBe(true)

    // The operator puts them back, and all goes on.
    await bed.startOperator()
    await expect.poll(() => exists('overdue'), SOON).toBe(false)
    await expect.poll(said, SOON).toBe('')
    await bed.waitForReady('maps')
  })
})

test('a dedicated controller of a kind in no namespace needs to see none, whatever has to opt in', async () => {
  await bed.startOperator()
  const kind = { group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass' }
  await bed.applyController('classes', { ...kind, optIn: { key: 'leased' } })
  await bed.waitForReady('classes')
  await startAsServiceAccount('classes', kind, { optIn: { key: 'leased' } })
  const name = `leased-${bed.id}`
  await bed.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name, annotations: { [TTL]: '2s' } },
    value: 1,
  })
  const left = (): Promise<string> =>
    cluster.kubectl(['get', 'priorityclass', name, '--ignore-not-found', '-o', 'name'])
  await expect.poll(left, SOON).toBe('')
})

describe('shared controllers', () => {
  test('are started, shared, changed and stopped live, also for kinds that appear later', async () => {
    await cluster.runKubectl(['delete', 'crd', APPLICATIONS.metadata.name, '--ignore-not-found'])
    await bed.startOperator({ defaultMode: 'shared' })
    await bed.apply(SEED_EXAMPLE)
    await bed.waitForReady('deployment-controller')
    await expect.poll(() => bed.ready('application-controller'), SOON).toBe('False KindNotServed')
    await bed.apply(APPLICATIONS)
    await bed.waitForReady('application-controller')
    const stdin = {
      apiVersion: 'startpunkt.ullberg.us/v1alpha2',
      kind: 'Application',
      metadata: { name: 'google', namespace: bed.elsewhere, annotations: { [TTL]: '2s' } },
      spec: { name: 'Google', url: 'https://google.com' },
    }
    await bed.apply(stdin)
    const applications = ['-n', bed.elsewhere, 'get', 'applications.startpunkt.ullberg.us', '-o', 'name']
    await expect.poll(() => cluster.kubectl(applications), SOON).toBe('')

    // Nobody keeps them any more.
    await bed.applyController('application-controller', { ...APPLICATION_SPEC, suspend: true })
    await expect.poll(() => bed.ready('application-controller'), SOON).toBe('False Suspended')
    await bed.apply(stdin)
    await bed.applyController('pods', { kind: 'Pod' })
    await bed.waitForReady('pods')
    expect(await cluster.kubectl(applications)).toContain('google')
    await bed.applyController('application-controller', APPLICATION_SPEC)
    await expect.poll(() => cluster.kubectl(applications), SOON).toBe('')
  })

  test('tenure lease sets, lists, extends and clears', async () => {
    await bed.startOperator({ defaultMode: 'shared' })
    await bed.applyController('maps', { kind: 'ConfigMap' })
    await bed.waitForReady('maps')
    const lines: string[] = []
    const context = {
      api: bed.admin.client,
      kinds: new RestMapper(bed.admin.client.requester),
      clock: bed.admin.client.requester.clock,
      namespace: bed.elsewhere,
      write: (text: string) => void lines.push(...text.split('\n')),
      warn: (text: string) => void lines.push(text),
    }
    const tenure = async (name: string, ...args: readonly string[]): Promise<readonly string[]> => {
      lines.length = 0
      await leaseCommands.find((command) => command.name === name)?.run(context, args, {})
      return [...lines]
    }
    for (const name of ['one', 'two']) await cluster.kubectl(['-n', bed.elsewhere, 'create', 'configmap', name])
    expect(await tenure('set', 'configmap/one', '2h')).toEqual([
      expect.stringMatching(/^configmap\/one expires at .*Z \(in /),
    ])
    await tenure('set', 'cm/two', '1h')
    const listed = async (): Promise<readonly string[]> =>
      (await tenure('list')).filter((line) => line.includes('ConfigMap') && line.includes('Active.'))
    await expect.poll(listed, SOON).toEqual([expect.stringContaining(' two '), expect.stringContaining(' one ')])
    await tenure('extend', 'cm/two', '3h')
    await expect.poll(listed, SOON).toEqual([expect.stringContaining(' one '), expect.stringContaining(' two ')])
    await tenure('clear', 'cm/two')
    expect(await tenure('clear', 'cm/one')).toEqual(['configmap/one is kept for good'])
    expect(await listed()).toEqual([])
    await expect
      .poll(
        () => cluster.kubectl(['-n', bed.elsewhere, 'get', 'cm', 'one', '-o', 'jsonpath={.metadata.annotations}']),
        SOON,
      )
      .toBe('')
  })
})

describe('admission', () => {
  test('refuses annotations that make no sense, of any kind, and leaves everything else alone', async () => {
    const name = LEASE_OPERATOR
    const account = await admissionAccount()
    const webhook = bed.run({ name, controllers: [], components: [], webhooks: [], routes: [] }, account, {
      webhooks: {
        webhooks: [leaseAnnotationsWebhook({ failurePolicy: 'Fail' })],
        secret: { namespace: bed.namespace, name: LEASE_WEBHOOK_SECRET },
        configuration: { name, address: { url: 'https://127.0.0.1:0' } },
        host: '127.0.0.1',
        port: 0,
      },
    })
    try {
      await bed.kubectl('create', 'configmap', 'checked')
      const annotate = async (...args: readonly string[]): Promise<string> =>
        (await cluster.runKubectl(['-n', bed.namespace, 'annotate', '--overwrite', ...args])).stderr
      await expect.poll(() => annotate('configmap', 'checked', `${TTL}=1h30`), SOON).toContain('30 has no unit')
      expect(await annotate('namespace', bed.elsewhere, `${TTL}=1M`)).toContain('a capital M')
      expect(await annotate('serviceaccount', 'default', `${GROUP}/expires=tomorrow`)).toContain('is no time')
      expect(await annotate('configmap', 'checked', `${TTL}=1h`)).toBe('')
      expect(await annotate('configmap', 'checked', 'other=1h30')).toBe('')
    } finally {
      // As long as it runs it would put its configuration back.
      await webhook.stop()
      await cluster.kubectl(['delete', 'validatingwebhookconfiguration', name, '--ignore-not-found'])
      await cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', `admission-${bed.id}`])
    }
  })
})
