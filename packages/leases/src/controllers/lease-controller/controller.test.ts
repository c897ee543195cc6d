import { TenureError } from '@tenure/kube'
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
import { refuse, silentLogger } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultLeaseSettings } from '../../api/types.ts'
import { LEASE_CONTROLLER_GROUP, LeaseController } from '../../api/lease-controller.ts'
import { defaultLeaseControllers } from './defaults.ts'
import { createLeaseReporter } from './reporter.ts'
import { FakeKeeper, World } from '../../testing/lease-controller-harness.ts'

const DEDICATED = { image: 'tenure:1' }
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

let world: World

beforeEach(() => {
  world = new World()
})
afterEach(() => world.stop())

/** `Deployment operator/object-lease-web`. */
function children(): readonly string[] {
  return CHILDREN.flatMap((kind) =>
    world.server.objects(kind).map(({ metadata: { name, namespace } }) => `${kind.kind} ${namespace ?? ''}/${name}`),
  )
}

/** As a cluster's Deployment controller would say it. */
function makeAvailable(name: string): void {
  const deployment = world.server.peek(Deployment, { name, namespace: 'operator' })
  if (!deployment) throw new Error(`no Deployment ${name}`)
  const { replicas = 1 } = deployment.spec ?? {}
  world.server.seed(Deployment, {
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

describe('a dedicated controller', () => {
  beforeEach(async () => {
    await world.start({ dedicated: DEDICATED })
    world.put('web', { ...seedExample, optIn: { key: 'team', value: 'a' }, replicas: 2 })
    await world.until(() => world.ready('web') === 'False DeploymentUnavailable')
  })

  test('gets all it needs, owned by its LeaseController', () => {
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
    const { uid } = world.server.peek(LeaseController, { name: 'web' })?.metadata ?? {}
    for (const kind of CHILDREN) {
      for (const { metadata } of world.server.objects(kind)) {
        expect(metadata.ownerReferences).toMatchObject([{ kind: 'LeaseController', uid, controller: true }])
      }
    }
    const [deployment] = world.server.objects(Deployment)
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

  test('has rights on its kind, and on no other', () => {
    const [clusterRole] = world.server.objects(ClusterRole)
    expect(clusterRole?.rules).toEqual([
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    ])
    const [role] = world.server.objects(Role)
    const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }
    expect(role?.rules).toEqual([
      { ...leases, verbs: ['create'] },
      { ...leases, resourceNames: ['object-lease-controller-apps-v1-deployment'], verbs: ['get', 'update'] },
      { ...leases, resourceNames: ['object-lease-web-report'], verbs: ['patch'] },
    ])
  })

  test('is Ready when its Deployment is, with what it reports', async () => {
    expect(world.status('web')).toMatchObject({
      mode: 'dedicated',
      target: 'deployments.apps/v1',
      note: 'the core group has no Deployment; using apps/v1',
    })
    makeAvailable('object-lease-web')
    await world.until(() => world.ready('web') === 'True Running')

    const context = { api: world.client, clock: world.clock, log: silentLogger }
    const keeper = new FakeKeeper({ kind: Deployment, settings: defaultLeaseSettings })
    keeper.activeLeases = 3
    keeper.nextExpiry = Date.UTC(2026, 5, 1)
    const lease = { name: 'object-lease-web-report', namespace: 'operator' }
    const reporter = createLeaseReporter(context, { lease, read: () => keeper })
    await reporter.start(new AbortController().signal)
    await world.until(() => world.status('web')?.activeLeases === 3)
    expect(world.status('web')?.nextExpiry).toBe('2026-06-01T00:00:00Z')

    keeper.problem = 'It may not list deployments.'
    keeper.nextExpiry = undefined
    await world.until(() => world.ready('web') === 'False Degraded')
    expect(world.status('web')?.nextExpiry).toBeUndefined()
    keeper.problem = undefined
    await world.until(() => world.ready('web') === 'True Running')
    world.server.clearRequests()
    await world.clock.advance(300_000)
    expect(world.writes()).toEqual([])
    await reporter.stop(0)
  })

  test('is put right when somebody changes or deletes what is its own', async () => {
    const role = world.server.peek(ClusterRole, { name: 'object-lease-web' })
    const wanted = role?.rules
    world.server.seed(ClusterRole, {
      ...role,
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    })
    await world.until(
      () => world.server.peek(ClusterRole, { name: 'object-lease-web' })?.rules?.[0]?.verbs.length === 5,
    )
    expect(world.server.peek(ClusterRole, { name: 'object-lease-web' })?.rules).toEqual(wanted)
    world.server.unseed(Deployment, { name: 'object-lease-web', namespace: 'operator' })
    await world.until(() => world.server.objects(Deployment).length === 1)
  })

  test('goes, and all that is its own, when its LeaseController asks for shared mode', async () => {
    world.put('web', { ...seedExample, mode: 'shared' })
    await world.until(() => world.ready('web') === 'True Running')
    expect(children()).toEqual([])
    expect(world.running()).toHaveLength(1)
    const removed = world.writes().filter((write) => write.startsWith('delete'))
    expect(removed[0]).toBe('delete deployments/object-lease-web')
    // And back.
    world.put('web', { ...seedExample, mode: 'dedicated' })
    await world.until(() => children().length === 9)
    expect(world.running()).toHaveLength(0)
  })

  test('gets no more rights than its spec asks for when that changes', async () => {
    const cleanup = { cleanup: true, cleanupConfigMaps: ['scripts'] }
    world.put('web', { group: '', kind: 'ConfigMap', leaderElection: false, ...cleanup })
    await world.until(() => world.status('web')?.target === 'configmaps/v1')
    expect(world.server.peek(ClusterRole, { name: 'object-lease-web' })?.rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['scripts'], verbs: ['get'] },
    ])
    const role = world.server.peek(Role, { name: 'object-lease-web', namespace: 'operator' })
    expect(role?.rules?.map(({ verbs }) => verbs)).toEqual([['patch']])
  })

  test('keeps the leases that others would keep in shared mode', async () => {
    world.put('other', { group: 'apps', kind: 'Deployment', mode: 'shared' })
    await world.until(() => world.ready('other') === 'True Running')
    expect(world.running()).toHaveLength(0)
    expect(world.status('other')?.conditions?.[0]?.message).toBe('The Deployment of web manages the leases.')
    world.put('web', { ...seedExample, suspend: true })
    await world.until(() => world.running().length === 1)
    await world.until(() => world.ready('web') === 'False Suspended')
    expect(children()).toEqual([])
  })

  test('is one for all that name its kind: the oldest decides, and the next when that goes', async () => {
    await world.clock.advance(2_000)
    world.put('another', { kind: 'Deployment', group: 'apps' })
    await world.until(() => world.status('another')?.conditions?.[0]?.message.includes('Deployment of web') === true)
    await world.until(() => world.server.objects(Deployment).length === 1)
    expect(world.server.objects(Deployment).map(({ metadata }) => metadata.name)).toEqual(['object-lease-web'])
    world.server.unseed(LeaseController, { name: 'web' })
    await world.until(
      () => world.server.peek(Deployment, { name: 'object-lease-another', namespace: 'operator' }) !== undefined,
    )
  })

  test('says in its status what could not be made, and recovers', async () => {
    const end = world.server.intercept(({ verb, plural }) =>
      verb === 'apply' && plural === 'clusterroles' ? refuse(403, 'Forbidden', 'may not grant that') : undefined,
    )
    world.put('more', { kind: 'Pod' })
    await world.until(() => world.ready('more') === 'False ApplyFailed')
    expect(world.status('more')?.conditions?.[0]?.message).toContain('may not grant that')
    end()
    await world.until(() => world.ready('more') === 'False DeploymentUnavailable')
  })
})

describe('a shared controller', () => {
  beforeEach(() => world.start())

  test('runs in the operator, with the settings of its LeaseController and its figures in the status', async () => {
    world.put('web', { ...seedExample, optIn: { key: 'team' }, dryRun: true })
    await world.until(() => world.ready('web') === 'True Running')
    const [keeper] = world.running()
    expect(keeper?.options).toMatchObject({
      kind: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
      settings: { optIn: { key: 'team' }, dryRun: true },
    })
    expect(world.status('web')).toMatchObject({ mode: 'shared', activeLeases: 0 })
    Object.assign(keeper ?? {}, { activeLeases: 7, nextExpiry: Date.UTC(2026, 1, 1) })
    await world.until(() => world.status('web')?.activeLeases === 7)
    expect(world.status('web')?.nextExpiry).toBe('2026-02-01T00:00:00Z')
    Object.assign(keeper ?? {}, { problem: 'no rights' })
    await world.until(() => world.ready('web') === 'False Degraded')
    Object.assign(keeper ?? {}, { problem: undefined })
    await world.until(() => world.ready('web') === 'True Running')
    world.server.clearRequests()
    const asked = world.discoveries
    await world.clock.advance(300_000)
    expect([world.writes(), world.discoveries]).toEqual([[], asked])
  })

  test('is changed and stopped live', async () => {
    world.put('web', seedExample)
    await world.until(() => world.running().length === 1)
    world.put('web', { ...seedExample, dryRun: true })
    await world.until(() => world.running()[0]?.options.settings.dryRun === true)
    expect(world.running()).toHaveLength(1)
    world.put('web', { kind: 'Pod' })
    await world.until(() => world.running()[0]?.options.kind.kind === 'Pod')
    expect(world.running()).toHaveLength(1)
    world.server.unseed(LeaseController, { name: 'web' })
    await world.until(() => world.running().length === 0)
    expect(world.keepers.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped'])
  })

  test('is one for all that name its kind; the oldest decides, and the next when that goes', async () => {
    world.put('first', { kind: 'Pod', dryRun: true })
    await world.until(() => world.ready('first') === 'True Running')
    await world.clock.advance(2_000)
    world.put('second', { kind: { singular: 'pod', plural: 'pods' } })
    await world.until(() => world.ready('second') === 'True Running')
    expect(world.keepers).toHaveLength(1)
    expect(world.status('second')?.conditions?.[0]?.message).toContain('with the settings of first')
    world.server.unseed(LeaseController, { name: 'first' })
    await world.until(() => world.running()[0]?.options.settings.dryRun === false)
    expect(world.running()).toHaveLength(1)
  })

  test('begins at once when the CRD of its kind appears, waits when it goes, and begins again', async () => {
    const spec = { group: 'startpunkt.ullberg.us', kind: 'Application', version: 'v1alpha2' }
    world.put('app', spec)
    await world.until(() => world.ready('app') === 'False KindNotServed')
    const crd = { metadata: { name: 'applications.startpunkt.ullberg.us' } }
    await world.clock.advance(7_000)
    // As on a real server: the CRD is there first, and its kind is served a little later.
    world.server.seed(CustomResourceDefinition, { ...crd, spec: {} as never })
    await world.clock.advance(800)
    world.served.push(spec)
    const served = world.clock.monotonic()
    await world.until(() => world.running().length === 1)
    expect(world.clock.monotonic() - served).toBeLessThanOrEqual(600)
    await world.until(() => world.ready('app') === 'True Running')

    // And goes a little later, too.
    world.server.unseed(CustomResourceDefinition, crd.metadata)
    await world.clock.advance(800)
    expect(world.ready('app')).toBe('True Running')
    world.served.pop()
    await world.until(() => world.ready('app') === 'False KindNotServed')
    // It waits for its kind by itself.
    expect(world.running()).toHaveLength(1)
    world.served.push(spec)
    world.server.seed(CustomResourceDefinition, { ...crd, spec: {} as never })
    await world.until(() => world.ready('app') === 'True Running')
    expect(world.keepers).toHaveLength(1)
  })

  test('of a kind that is none says so and costs nothing', async () => {
    world.put('odd', { kind: 5 as never })
    await world.until(() => world.ready('odd') === 'False InvalidSpec')
    // As a selector it would be all namespaces but those.
    world.put('inverse', { kind: 'Pod', optIn: { key: '!protected' } })
    await world.until(() => world.ready('inverse') === 'False InvalidSpec')
    world.put('late', { group: 'a.dev', kind: 'Late' })
    await world.until(() => world.ready('late') === 'False KindNotServed')
    const asked = world.discoveries
    await world.clock.advance(300_000)
    expect(world.discoveries - asked).toBeLessThanOrEqual(10)
    expect(world.keepers).toEqual([])
  })

  test('runs although dedicated is asked for, with a note, if there is no image for dedicated controllers', async () => {
    world.put('web', { ...seedExample, mode: 'dedicated' })
    await world.until(() => world.ready('web') === 'True Running')
    expect(world.status('web')?.note).toContain('no image for dedicated controllers')
  })
})

test.each([
  [
    'of the one that somebody made, before that which came with the operator',
    { labels: { [`${LEASE_CONTROLLER_GROUP}/default`]: 'true' } },
  ],
  ['of the older', {}],
])('from the first moment after a restart the settings count %s', async (_, metadata) => {
  world.put('z-dry', { kind: 'Pod', dryRun: true })
  await world.clock.advance(2_000)
  world.server.seed(LeaseController, { metadata: { name: 'a-wet', generation: 1, ...metadata }, spec: { kind: 'Pod' } })
  await world.start()
  await world.until(() => world.ready('a-wet') === 'True Running' && world.ready('z-dry') === 'True Running')
  expect(world.keepers.map(({ options }) => options.settings.dryRun)).toEqual([true])
})

test('other prefixes hold for controllers of their own, too', async () => {
  const families = [{ prefix: 'a.example/', start: 'extended-at' as const }]
  await world.start({ dedicated: DEDICATED, settings: { ...defaultLeaseSettings, families } })
  world.put('web', seedExample)
  await world.until(() => world.server.objects(Deployment).length === 1)
  const [container] = world.server.objects(Deployment)[0]?.spec?.template.spec?.containers ?? []
  expect(container?.args).toEqual(expect.arrayContaining(['--prefix=a.example/', '--newer-prefix=a.example/']))
})

test('who no longer leads stops at once, and begins anew when it leads again', async () => {
  await world.start({}, { leaderElection: { name: 'operator', identity: 'we', whenLost: 'campaign' } })
  world.put('web', seedExample)
  await world.until(() => world.ready('web') === 'True Running')
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }
  world.server.seed(Lease, { metadata: { name: 'operator', namespace: 'operator' }, spec })
  await world.until(() => world.running().length === 0)
  expect(world.keepers).toHaveLength(1)
  // The other is gone without a word.
  await world.until(() => world.running().length === 1)
  expect(world.keepers.map(({ state }) => state)).toEqual(['stopped', 'running'])
})

test('the kinds of every day come along, and give way to the user', async () => {
  await world.start({
    defaults: defaultLeaseControllers.filter(({ name }) => name === 'pods' || name === 'configmaps'),
  })
  await world.until(() => world.ready('pods') === 'True Running' && world.ready('configmaps') === 'True Running')
  await world.clock.advance(5_000)
  world.put('mine', { kind: 'Pod', optIn: { key: 'leased' } })
  await world.until(() => world.ready('mine') === 'True Running')
  expect(world.running().map(({ options }) => [options.kind.kind, options.settings.optIn?.key])).toEqual([
    ['ConfigMap', undefined],
    ['Pod', 'leased'],
  ])
  // Switched off by its user, it stays off.
  world.put('configmaps', { kind: 'ConfigMap', suspend: true })
  await world.until(() => world.running().length === 1)
})

test('a kind of every day that its user removed stays away: what it leased would be deleted after all', async () => {
  world.server.seed(CustomResourceDefinition, {
    metadata: { name: `leasecontrollers.${LEASE_CONTROLLER_GROUP}` },
    spec: {} as never,
  })
  const defaults = defaultLeaseControllers.filter(({ name }) => name === 'pods' || name === 'configmaps')
  await world.start({ defaults }, { leaderElection: { name: 'operator', identity: 'we', whenLost: 'campaign' } })
  await world.until(() => world.ready('pods') === 'True Running' && world.ready('configmaps') === 'True Running')
  world.server.unseed(LeaseController, { name: 'pods' })
  await world.until(() => world.running().length === 1)
  // Another leads for a while, and then this one again: as after a restart.
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }
  world.server.seed(Lease, { metadata: { name: 'operator', namespace: 'operator' }, spec })
  await world.until(() => world.running().length === 0)
  await world.until(() => world.running().length === 1)
  await world.clock.advance(30_000)
  expect(world.running().map(({ options }) => options.kind.kind)).toEqual(['ConfigMap'])
})

test('a kind of every day is not made while nobody can tell whether it was removed', async () => {
  const end = world.server.intercept(({ plural, verb }) =>
    plural === 'customresourcedefinitions' && verb === 'get' ? refuse(500, 'InternalError', 'no') : undefined,
  )
  await world.start({ defaults: defaultLeaseControllers.filter(({ name }) => name === 'pods') })
  await world.clock.advance(60_000)
  expect(world.running()).toEqual([])
  end()
  await world.until(() => world.ready('pods') === 'True Running')
})

test('a keeper that cannot start is tried again, and tells why meanwhile', async () => {
  let tries = 0
  await world.start({
    createKeeper: (_context, options) => {
      const failure = new TenureError('TENURE_TEST', 'Not yet.')
      const keeper = new FakeKeeper(options, ++tries < 3 ? Promise.reject(failure) : undefined)
      world.keepers.push(keeper)
      return keeper
    },
  })
  world.put('web', seedExample)
  await world.until(() => world.ready('web') === 'False Degraded')
  expect(world.status('web')?.conditions?.[0]?.message).toBe('Not yet.')
  await world.until(() => world.ready('web') === 'True Running')
  expect(world.keepers.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'running'])
})

test('a keeper that waits for long is stopped all the same', async () => {
  await world.start({
    createKeeper: (_context, options) => {
      const keeper = new FakeKeeper(options)
      keeper.start = (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
      world.keepers.push(keeper)
      return keeper
    },
  })
  world.put('web', seedExample)
  await world.until(() => world.ready('web') === 'False Starting')
  world.server.unseed(LeaseController, { name: 'web' })
  await world.until(() => world.keepers[0]?.state === 'stopped')
  expect(world.keepers).toHaveLength(1)
})
