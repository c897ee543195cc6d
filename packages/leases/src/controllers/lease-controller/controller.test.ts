import { defineKind, type KubeObject, type Stored, TenureError } from '@tenure/kube'
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  Deployment,
  Lease,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from '@tenure/kube/kinds'
import { crdFor, refuse } from '@tenure/controlplane/testing'
import { silentLogger } from '@tenure/runtime'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultLeaseSettings } from '../../api/types.ts'
import { LEASE_CONTROLLER_GROUP, LeaseController } from '../../api/lease-controller.ts'
import { defaultLeaseControllers } from './defaults.ts'
import { createLeaseReporter } from './reporter.ts'
import { FakeKindController, LeaseControllerHarness } from '../../testing/lease-controller-harness.ts'

const DEDICATED = { leaseControllerImage: 'tenure:1' }
const seedExample = { group: '', kind: 'Deployment', version: 'v1' }
const CHILDREN = [
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  Lease,
  Service,
  Deployment,
] as const

const defaultsNamed = (...names: readonly string[]) =>
  defaultLeaseControllers.filter(({ name }) => names.includes(name))

let harness: LeaseControllerHarness

beforeEach(async () => {
  harness = await LeaseControllerHarness.create()
})
afterEach(() => harness.stop())

const isChild = ({ metadata }: Stored<KubeObject>): boolean => metadata.name.startsWith('object-lease-')

/** `Deployment operator/object-lease-web`. */
function children(): readonly string[] {
  return CHILDREN.flatMap((kind) =>
    harness.server
      .objects(kind)
      .filter(isChild)
      .map(({ metadata: { name, namespace } }) => `${kind.kind} ${namespace ?? ''}/${name}`),
  )
}

/** As a cluster's Deployment controller would say it. */
function makeAvailable(name: string): void {
  const deployment = harness.server.peek(Deployment, { name, namespace: 'operator' })
  if (!deployment) throw new Error(`no Deployment ${name}`)
  const { replicas = 1 } = deployment.spec ?? {}
  harness.server.seed(Deployment, {
    ...deployment,
    status: {
      ...(deployment.metadata.generation !== undefined && { observedGeneration: deployment.metadata.generation }),
      replicas,
      updatedReplicas: replicas,
      availableReplicas: replicas,
      conditions: [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'up' }],
    },
  })
}

test('the cleanup policy and lists of the operator apply to dedicated and shared controllers', async () => {
  const operator = { cleanupPolicy: 'any', cleanupImage: 'tools:2', cleanupImages: ['a:*'] } as const
  await harness.start({ ...DEDICATED, ...operator })
  harness.put('web', { ...seedExample, cleanup: { images: ['b', 'a:*'] } })
  harness.put('maps', { kind: 'ConfigMap', mode: 'shared', cleanup: { secrets: ['db'] } })
  harness.put('odd', { kind: 'Pod', cleanup: 'yes' as unknown as boolean })
  await harness.until(() => harness.server.objects(Deployment).length === 1)
  const [deployment] = harness.server.objects(Deployment)
  expect(deployment?.spec?.template.spec?.containers[0]?.args).toEqual(
    expect.arrayContaining(['--cleanup-policy=any', '--cleanup-image=tools:2', '--cleanup-images=a:*,b']),
  )
  await harness.until(() => harness.running().length === 1)
  expect(harness.running()[0]?.options.settings.cleanup).toEqual({
    policy: 'any',
    image: 'tools:2',
    images: ['a:*'],
    serviceAccounts: [],
    secrets: ['db'],
  })
  await harness.until(() => harness.ready('odd') === 'False InvalidSpec')
})

describe('a dedicated controller', () => {
  beforeEach(async () => {
    await harness.start(DEDICATED)
    harness.put('web', { ...seedExample, optIn: { key: 'team', value: 'a' }, replicas: 2 })
    await harness.until(() => harness.ready('web') === 'False DeploymentUnavailable')
  })

  test('a dedicated controller gets all its children, owned by the LeaseController', () => {
    expect(children()).toEqual([
      'ServiceAccount operator/object-lease-web',
      'ClusterRole /object-lease-web',
      'ClusterRoleBinding /object-lease-web',
      'Role operator/object-lease-web',
      'RoleBinding operator/object-lease-web',
      'Lease operator/object-lease-web-report',
      'Service operator/object-lease-web-health',
      'Service operator/object-lease-web-metrics',
      'Deployment operator/object-lease-web',
    ])
    const { uid } = harness.server.peek(LeaseController, { name: 'web' })?.metadata ?? {}
    for (const kind of CHILDREN) {
      for (const { metadata } of harness.server.objects(kind).filter(isChild)) {
        expect(metadata.ownerReferences).toMatchObject([{ kind: 'LeaseController', uid, controller: true }])
      }
    }
    const [deployment] = harness.server.objects(Deployment)
    const [container] = deployment?.spec?.template.spec?.containers ?? []
    expect(container).toMatchObject({
      image: 'tenure:1',
      imagePullPolicy: 'IfNotPresent',
      args: [
        'leases',
        '--group=apps',
        '--version=v1',
        '--kind=Deployment',
        '--leader-elect',
        '--leader-elect-namespace=operator',
        '--opt-in-label-key=team',
        '--opt-in-label-value=a',
        '--metrics-bind-address=:8080',
        '--health-probe-bind-address=:8081',
      ],
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    })
    expect(deployment?.spec).toMatchObject({
      replicas: 2,
      template: { spec: { securityContext: { runAsNonRoot: true } } },
    })
  })

  test('a dedicated controller has rights on its own kind only', () => {
    const clusterRole = harness.server.peek(ClusterRole, { name: 'object-lease-web' })
    expect(clusterRole?.rules).toEqual([
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    ])
    const role = harness.server.peek(Role, { name: 'object-lease-web', namespace: 'operator' })
    const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }
    expect(role?.rules).toEqual([
      { ...leases, verbs: ['create'] },
      { ...leases, resourceNames: ['object-lease-controller-apps-v1-deployment'], verbs: ['get', 'update'] },
      { ...leases, resourceNames: ['object-lease-web-report'], verbs: ['patch'] },
    ])
  })

  test('a dedicated controller is Ready with its Deployment and shows its report', async () => {
    expect(harness.status('web')).toMatchObject({
      mode: 'dedicated',
      target: 'deployments.apps/v1',
      note: 'the core group has no Deployment; using apps/v1',
    })
    makeAvailable('object-lease-web')
    await harness.until(() => harness.ready('web') === 'True Running')

    const context = { api: harness.client, clock: harness.clock, log: silentLogger }
    const controller = new FakeKindController({ kind: Deployment, settings: defaultLeaseSettings })
    controller.activeLeases = 3
    controller.nextExpiry = Date.UTC(2026, 5, 1)
    const lease = { name: 'object-lease-web-report', namespace: 'operator' }
    const reporter = createLeaseReporter(context, { lease, read: () => controller })
    await reporter.start(new AbortController().signal)
    await harness.until(() => harness.status('web')?.activeLeases === 3)
    expect(harness.status('web')?.nextExpiry).toBe('2026-06-01T00:00:00Z')

    controller.problem = 'It may not list deployments.'
    controller.nextExpiry = undefined
    await harness.until(() => harness.ready('web') === 'False Degraded')
    expect(harness.status('web')?.nextExpiry).toBeUndefined()
    controller.problem = undefined
    await harness.until(() => harness.ready('web') === 'True Running')
    harness.server.clearRequests()
    await harness.clock.advance(300_000)
    expect(harness.writes()).toEqual([])
    await reporter.stop(0)
  })

  test('changed and deleted children are restored', async () => {
    const role = harness.server.peek(ClusterRole, { name: 'object-lease-web' })
    const wanted = role?.rules
    harness.server.seed(ClusterRole, {
      ...role,
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    })
    await harness.until(
      () => harness.server.peek(ClusterRole, { name: 'object-lease-web' })?.rules?.[0]?.verbs.length === 5,
    )
    expect(harness.server.peek(ClusterRole, { name: 'object-lease-web' })?.rules).toEqual(wanted)
    harness.server.unseed(Deployment, { name: 'object-lease-web', namespace: 'operator' })
    await harness.until(() => harness.server.objects(Deployment).length === 1)
  })

  test('shared mode removes the dedicated controller with all its children', async () => {
    harness.put('web', { ...seedExample, mode: 'shared' })
    await harness.until(() => harness.ready('web') === 'True Running')
    expect(children()).toEqual([])
    expect(harness.running()).toHaveLength(1)
    const removed = harness.writes().filter((write) => write.startsWith('delete'))
    expect(removed[0]).toBe('delete deployments/object-lease-web')
    // And back.
    harness.put('web', { ...seedExample, mode: 'dedicated' })
    await harness.until(() => children().length === 9)
    expect(harness.running()).toHaveLength(0)
  })

  test('a changed spec reduces the rights', async () => {
    const cleanup = { cleanup: true, cleanupConfigMaps: ['scripts'] }
    harness.put('web', { group: '', kind: 'ConfigMap', leaderElection: false, ...cleanup })
    await harness.until(() => harness.status('web')?.target === 'configmaps/v1')
    expect(harness.server.peek(ClusterRole, { name: 'object-lease-web' })?.rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['scripts'], verbs: ['get'] },
    ])
    const role = harness.server.peek(Role, { name: 'object-lease-web', namespace: 'operator' })
    expect(role?.rules?.map(({ verbs }) => verbs)).toEqual([['patch']])
  })

  test('a dedicated controller is told what cleanup jobs may use', async () => {
    const allowed = { images: ['busybox:*', 'tools:1'], serviceAccounts: ['*-cleaner'], secrets: ['db'] }
    harness.put('maps', { kind: 'ConfigMap', cleanup: allowed })
    harness.put('plain', { kind: 'Secret', cleanup: true })
    await harness.until(() => harness.server.objects(Deployment).length === 3)
    const flags = (name: string): readonly string[] | undefined =>
      harness.server
        .peek(Deployment, { name, namespace: 'operator' })
        ?.spec?.template.spec?.containers[0]?.args?.filter((arg) => arg.startsWith('--cleanup'))
    expect(flags('object-lease-maps')).toEqual([
      '--cleanup-images=busybox:*,tools:1',
      '--cleanup-service-accounts=*-cleaner',
      '--cleanup-secrets=db',
    ])
    expect(flags('object-lease-plain')).toEqual([])
    const resources = harness.server
      .peek(ClusterRole, { name: 'object-lease-maps' })
      ?.rules?.flatMap((rule) => rule.resources ?? [])
    expect(resources).toEqual(['configmaps', 'events', 'jobs', 'serviceaccounts', 'configmaps'])
    expect(
      await harness.client.create(LeaseController, { metadata: { name: 'p' }, spec: { kind: 'Pod', cleanup: {} } }),
    ).toBeDefined()
    const spec = { kind: 'Pod', cleanup: { images: ['a,b'] } }
    await expect(harness.client.create(LeaseController, { metadata: { name: 'q' }, spec })).rejects.toThrow('images')
  })

  test.each([
    ['without an owner', {}],
    [
      'of another owner',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }] },
    ],
  ])('an object %s that has the name of a child is not adopted, and the status says so', async (_, more) => {
    const labels = { theirs: 'yes' }
    const metadata = { name: 'object-lease-maps', namespace: 'operator', labels, ...more }
    harness.server.seed(ServiceAccount, { metadata })
    harness.put('maps', { kind: 'ConfigMap' })
    await harness.until(() => harness.ready('maps') === 'False NameTaken')
    const { conditions = [] } = harness.status('maps') ?? {}
    expect(conditions[0]?.message).toMatch(
      /^ServiceAccount operator\/object-lease-maps already exists and .* Delete it/,
    )
    const account = harness.server.peek(ServiceAccount, { name: 'object-lease-maps', namespace: 'operator' })
    expect(account?.metadata).toMatchObject({ labels })
    expect(account?.metadata.ownerReferences ?? []).toEqual('ownerReferences' in more ? more.ownerReferences : [])
    // Nothing else was created.
    expect(children().filter((child) => child.includes('maps'))).toEqual(['ServiceAccount operator/object-lease-maps'])
    harness.server.unseed(ServiceAccount, { name: 'object-lease-maps', namespace: 'operator' })
    await harness.until(() => harness.ready('maps') === 'False DeploymentUnavailable')
  })

  test('a LeaseController that is created again waits for the children of its predecessor', async () => {
    const { uid } = harness.server.peek(LeaseController, { name: 'web' })?.metadata ?? {}
    harness.server.unseed(LeaseController, { name: 'web' })
    harness.put('web', seedExample)
    await harness.until(() => harness.ready('web') === 'False ApplyFailed')
    for (const kind of CHILDREN) {
      for (const { metadata } of harness.server.objects(kind).filter(isChild)) {
        const { name, namespace } = metadata
        if (metadata.ownerReferences?.some((owner) => owner.uid === uid))
          harness.server.unseed(kind, namespace === undefined ? { name } : { name, namespace })
      }
    }
    await harness.until(() => harness.ready('web') === 'False DeploymentUnavailable')
    expect(children()).toHaveLength(9)
  })

  test('a dedicated controller takes precedence over shared ones', async () => {
    harness.put('other', { group: 'apps', kind: 'Deployment', mode: 'shared' })
    await harness.until(() => harness.ready('other') === 'True Running')
    expect(harness.running()).toHaveLength(0)
    expect(harness.status('other')?.conditions?.[0]?.message).toBe('The Deployment of web manages the leases.')
    harness.put('web', { ...seedExample, suspend: true })
    await harness.until(() => harness.running().length === 1)
    await harness.until(() => harness.ready('web') === 'False Suspended')
    expect(children()).toEqual([])
  })

  test('the oldest LeaseController of a kind deploys its controller, then the next', async () => {
    await harness.clock.advance(2_000)
    harness.put('another', { kind: 'Deployment', group: 'apps' })
    await harness.until(
      () => harness.status('another')?.conditions?.[0]?.message.includes('Deployment of web') === true,
    )
    await harness.until(() => harness.server.objects(Deployment).length === 1)
    expect(harness.server.objects(Deployment).map(({ metadata }) => metadata.name)).toEqual(['object-lease-web'])
    harness.server.unseed(LeaseController, { name: 'web' })
    await harness.until(
      () => harness.server.peek(Deployment, { name: 'object-lease-another', namespace: 'operator' }) !== undefined,
    )
  })

  test('the status shows a failed action, and the controller recovers', async () => {
    const end = harness.server.intercept(({ verb, plural }) =>
      verb === 'apply' && plural === 'clusterroles' ? refuse(403, 'Forbidden', 'may not grant that') : undefined,
    )
    harness.put('more', { kind: 'Pod' })
    await harness.until(() => harness.ready('more') === 'False ApplyFailed')
    expect(harness.status('more')?.conditions?.[0]?.message).toContain('may not grant that')
    end()
    await harness.until(() => harness.ready('more') === 'False DeploymentUnavailable')
  })
})

describe('a shared controller', () => {
  beforeEach(() => harness.start())

  test('a shared controller runs with the settings of its LeaseController and reports in the status', async () => {
    harness.put('web', { ...seedExample, optIn: { key: 'team' }, dryRun: true })
    await harness.until(() => harness.ready('web') === 'True Running')
    const [controller] = harness.running()
    expect(controller?.options).toMatchObject({
      kind: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
      settings: { optIn: { key: 'team' }, dryRun: true },
    })
    expect(harness.status('web')).toMatchObject({ mode: 'shared', activeLeases: 0 })
    Object.assign(controller ?? {}, { activeLeases: 7, nextExpiry: Date.UTC(2026, 1, 1) })
    await harness.until(() => harness.status('web')?.activeLeases === 7)
    expect(harness.status('web')?.nextExpiry).toBe('2026-02-01T00:00:00Z')
    Object.assign(controller ?? {}, { problem: 'no rights' })
    await harness.until(() => harness.ready('web') === 'False Degraded')
    Object.assign(controller ?? {}, { problem: undefined })
    await harness.until(() => harness.ready('web') === 'True Running')
    harness.server.clearRequests()
    const asked = harness.discoveries
    await harness.clock.advance(300_000)
    expect([harness.writes(), harness.discoveries]).toEqual([[], asked])
  })

  test('a shared controller is changed and stopped live', async () => {
    harness.put('web', seedExample)
    await harness.until(() => harness.running().length === 1)
    harness.put('web', { ...seedExample, dryRun: true })
    await harness.until(() => harness.running()[0]?.options.settings.dryRun === true)
    expect(harness.running()).toHaveLength(1)
    harness.put('web', { kind: 'Pod' })
    await harness.until(() => harness.running()[0]?.options.kind.kind === 'Pod')
    expect(harness.running()).toHaveLength(1)
    harness.server.unseed(LeaseController, { name: 'web' })
    await harness.until(() => harness.running().length === 0)
    expect(harness.controllers.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped'])
  })

  test('the settings of the oldest LeaseController of a kind count, then those of the next', async () => {
    harness.put('first', { kind: 'Pod', dryRun: true })
    await harness.until(() => harness.ready('first') === 'True Running')
    await harness.clock.advance(2_000)
    harness.put('second', { kind: { singular: 'pod', plural: 'pods' } })
    await harness.until(() => harness.ready('second') === 'True Running')
    expect(harness.controllers).toHaveLength(1)
    expect(harness.status('second')?.conditions?.[0]?.message).toContain('with the settings of first')
    harness.server.unseed(LeaseController, { name: 'first' })
    await harness.until(() => harness.running()[0]?.options.settings.dryRun === false)
    expect(harness.running()).toHaveLength(1)
  })

  test('a shared controller follows the CRD of its kind', async () => {
    const spec = { group: 'startpunkt.ullberg.us', kind: 'Application', version: 'v1alpha2' }
    harness.put('app', spec)
    await harness.until(() => harness.ready('app') === 'False KindNotServed')
    const crd = crdFor(
      defineKind({ apiVersion: `${spec.group}/${spec.version}`, kind: spec.kind, plural: 'applications' }),
    )
    await harness.clock.advance(7_000)
    // A real server, too, serves the kind a little after the CRD exists.
    const serve = await harness.holdDiscovery()
    await harness.server.client.create(CustomResourceDefinition, crd)
    await harness.clock.advance(800)
    serve()
    const served = harness.clock.monotonic()
    await harness.until(() => harness.running().length === 1)
    expect(harness.clock.monotonic() - served).toBeLessThanOrEqual(600)
    await harness.until(() => harness.ready('app') === 'True Running')

    // It also disappears a little later.
    const remove = await harness.holdDiscovery()
    await harness.server.client.delete(CustomResourceDefinition, { name: crd.metadata?.name ?? '' })
    await harness.clock.advance(800)
    expect(harness.ready('app')).toBe('True Running')
    remove()
    await harness.until(() => harness.ready('app') === 'False KindNotServed')
    // The kind controller itself waits for its kind.
    expect(harness.running()).toHaveLength(1)
    await harness.server.client.create(CustomResourceDefinition, crd)
    await harness.until(() => harness.ready('app') === 'True Running')
    expect(harness.controllers).toHaveLength(1)
  })

  test('an invalid or missing kind is reported and costs little', async () => {
    harness.put('odd', { kind: 5 as never })
    await harness.until(() => harness.ready('odd') === 'False InvalidSpec')
    // As a selector it would be all namespaces but those.
    harness.put('inverse', { kind: 'Pod', optIn: { key: '!protected' } })
    await harness.until(() => harness.ready('inverse') === 'False InvalidSpec')
    harness.put('late', { group: 'a.dev', kind: 'Late' })
    await harness.until(() => harness.ready('late') === 'False KindNotServed')
    const asked = harness.discoveries
    await harness.clock.advance(300_000)
    expect(harness.discoveries - asked).toBeLessThanOrEqual(10)
    expect(harness.controllers).toEqual([])
  })

  test('a dedicated controller without an image runs in the operator, with a note', async () => {
    harness.put('web', { ...seedExample, mode: 'dedicated' })
    await harness.until(() => harness.ready('web') === 'True Running')
    expect(harness.status('web')?.note).toContain('no image for dedicated controllers')
  })
})

test.each([
  ["of the user's LeaseController before a default", { labels: { [`${LEASE_CONTROLLER_GROUP}/default`]: 'true' } }],
  ['of the older', {}],
])('after a restart the settings count at once %s', async (_, metadata) => {
  harness.put('z-dry', { kind: 'Pod', dryRun: true })
  await harness.clock.advance(2_000)
  harness.server.seed(LeaseController, {
    metadata: { name: 'a-wet', generation: 1, ...metadata },
    spec: { kind: 'Pod' },
  })
  await harness.start()
  await harness.until(() => harness.ready('a-wet') === 'True Running' && harness.ready('z-dry') === 'True Running')
  expect(harness.controllers.map(({ options }) => options.settings.dryRun)).toEqual([true])
})

test('dedicated controllers get the configured prefixes', async () => {
  await harness.start({ ...DEDICATED, prefix: 'a.example/', newerPrefix: 'a.example/' })
  harness.put('web', seedExample)
  await harness.until(() => harness.server.objects(Deployment).length === 1)
  const [container] = harness.server.objects(Deployment)[0]?.spec?.template.spec?.containers ?? []
  expect(container?.args).toEqual(expect.arrayContaining(['--prefix=a.example/', '--newer-prefix=a.example/']))
})

test('an operator that loses its lease stops its controllers until it leads again', async () => {
  await harness.start({}, { whenLost: 'campaign' })
  harness.put('web', seedExample)
  await harness.until(() => harness.ready('web') === 'True Running')
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }
  harness.server.seed(Lease, { metadata: { name: 'operator', namespace: 'operator' }, spec })
  await harness.until(() => harness.running().length === 0)
  expect(harness.controllers).toHaveLength(1)
  // The other is gone without a word.
  await harness.until(() => harness.running().length === 1)
  expect(harness.controllers.map(({ state }) => state)).toEqual(['stopped', 'running'])
})

test('default LeaseControllers give way to those of the user', async () => {
  await harness.start({ defaults: defaultsNamed('pods', 'configmaps') })
  await harness.until(() => harness.ready('pods') === 'True Running' && harness.ready('configmaps') === 'True Running')
  await harness.clock.advance(5_000)
  harness.put('mine', { kind: 'Pod', optIn: { key: 'leased' } })
  await harness.until(() => harness.ready('mine') === 'True Running')
  expect(harness.running().map(({ options }) => [options.kind.kind, options.settings.optIn?.key])).toEqual([
    ['ConfigMap', undefined],
    ['Pod', 'leased'],
  ])
  // Switched off by its user, it stays off.
  harness.put('configmaps', { kind: 'ConfigMap', suspend: true })
  await harness.until(() => harness.running().length === 1)
})

test('a deleted default LeaseController is not created again', async () => {
  await harness.start({ defaults: defaultsNamed('pods', 'configmaps') }, { whenLost: 'campaign' })
  await harness.until(() => harness.ready('pods') === 'True Running' && harness.ready('configmaps') === 'True Running')
  harness.server.unseed(LeaseController, { name: 'pods' })
  await harness.until(() => harness.running().length === 1)
  // Another leads for a while, and then this one again: as after a restart.
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }
  harness.server.seed(Lease, { metadata: { name: 'operator', namespace: 'operator' }, spec })
  await harness.until(() => harness.running().length === 0)
  await harness.until(() => harness.running().length === 1)
  await harness.clock.advance(30_000)
  expect(harness.running().map(({ options }) => options.kind.kind)).toEqual(['ConfigMap'])
})

test('a default LeaseController is not created while the CRD cannot be read', async () => {
  const end = harness.server.intercept(({ plural, verb }) =>
    plural === 'customresourcedefinitions' && verb === 'get' ? refuse(500, 'InternalError', 'no') : undefined,
  )
  await harness.start({ defaults: defaultsNamed('pods') })
  await harness.clock.advance(60_000)
  expect(harness.running()).toEqual([])
  end()
  await harness.until(() => harness.ready('pods') === 'True Running')
})

test('a controller that fails to start is retried and reports the error', async () => {
  let tries = 0
  await harness.start({
    createController: (_context, options) => {
      const failure = new TenureError('TENURE_TEST', 'Not yet.')
      const controller = new FakeKindController(options, ++tries < 5 ? Promise.reject(failure) : undefined)
      harness.controllers.push(controller)
      return controller
    },
  })
  harness.put('web', seedExample)
  await harness.until(() => harness.ready('web') === 'False Degraded')
  expect(harness.status('web')?.conditions?.[0]?.message).toBe('Not yet.')
  await harness.until(() => harness.ready('web') === 'True Running')
  expect(harness.controllers.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped', 'stopped', 'running'])
})

test('a controller that is still starting can be stopped', async () => {
  await harness.start({
    createController: (_context, options) => {
      const controller = new FakeKindController(options)
      controller.start = (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
      harness.controllers.push(controller)
      return controller
    },
  })
  harness.put('web', seedExample)
  await harness.until(() => harness.ready('web') === 'False Starting')
  harness.server.unseed(LeaseController, { name: 'web' })
  await harness.until(() => harness.controllers[0]?.state === 'stopped')
  expect(harness.controllers).toHaveLength(1)
})
