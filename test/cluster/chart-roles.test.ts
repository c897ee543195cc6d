/**
 * The roles of an installed chart, on an API server that enforces them and audits every request: they are enough, no
 * verb is unused, and an operator names the verb that it lacks. The claims and databases operators are audited elsewhere.
 */
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { ClusterRole, Role } from '@tenure/kube/kinds'
import type { PolicyRule } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { without } from '../../scripts/manifests/chart/rules.ts'
import type { RunningDatabases } from '../operators/databases/support.ts'
import type { ClusterAccess } from './access.ts'
import { tokenOf } from './support/account.ts'
import { ChartFixture } from './support/chart-fixture.ts'
import type { Release } from './support/release.ts'
import { until } from './support/until.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 200 }
const NAMESPACE = 'operators'
const LEASED = 'object-lease-maps'
const GROUP = 'object-lease-controller.ullberg.us'
const TTL = `${GROUP}/ttl`
const [flavor] = postgresFlavors

/**
 * Permissions that the API server checks without a request of their own: an apply that creates, owner references that
 * block deletion, and grants of permissions. An object is read only after a conflict about it.
 */
const NOT_AUDITED: ReadonlySet<string> = new Set([
  'bind clusterroles.rbac.authorization.k8s.io',
  'bind roles.rbac.authorization.k8s.io',
  'escalate clusterroles.rbac.authorization.k8s.io',
  'escalate roles.rbac.authorization.k8s.io',
  'create clusterrolebindings.rbac.authorization.k8s.io',
  'create clusterroles.rbac.authorization.k8s.io',
  'create leases.coordination.k8s.io',
  'create rolebindings.rbac.authorization.k8s.io',
  'create roles.rbac.authorization.k8s.io',
  'create serviceaccounts',
  'create configmaps',
  'create deployments.apps',
  'create horizontalpodautoscalers.autoscaling',
  'create ingresses.networking.k8s.io',
  'create jobs.batch',
  'create persistentvolumeclaims',
  'create services',
  'update applications/finalizers.cloudnative.elide.dev',
  'get applications.cloudnative.elide.dev',
  'update leasecontrollers/finalizers.object-lease-controller.ullberg.us',
  'get leasecontrollers.object-lease-controller.ullberg.us',
])

let fixture: ChartFixture
let cluster: ClusterAccess
let release: Release
let postgres: TestPostgres
let databases: RunningDatabases

/** The rules of the roles with this name. */
async function rulesOf(name: string): Promise<readonly PolicyRule[]> {
  const { api } = fixture.floor
  const { rules = [] } = await api.get(ClusterRole, { name })
  const { items } = await api.list(Role, { namespace: NAMESPACE, fieldSelector: `metadata.name=${name}` })
  return [...rules, ...items.flatMap((role) => role.rules ?? [])]
}

/** Permissions of the roles with this name that no request of the account has needed. */
const unusedOf = async (name: string): Promise<readonly string[]> =>
  (await fixture.requestsOf(release, name).unused(await rulesOf(name))).toSorted()

const applyApplication = (name: string, spec: object): Promise<string> =>
  cluster.kubectl(['apply', '-f', '-'], {
    stdin: {
      apiVersion: 'cloudnative.elide.dev/v1',
      kind: 'Application',
      metadata: { name, namespace: NAMESPACE },
      spec,
    },
  })

const applyLeaseController = (name: string, kind: string): Promise<string> =>
  cluster.kubectl(['apply', '-f', '-'], {
    stdin: {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'LeaseController',
      metadata: { name },
      spec: { kind, version: 'v1' },
    },
  })

/** The name of a claim of the pool. */
async function aClaim(): Promise<string> {
  const names = await release.kubectl('get', 'configmaps', '-l', 'claim-controller.io/managed-by', '-o', 'name')
  return (names.split('\n')[0] ?? '').replace('configmap/', '')
}

const conditionsOf = (object: string): Promise<string> =>
  release.kubectl('get', object, '-o', 'jsonpath={.status.conditions}')

const annotations = (): Promise<string> =>
  release.kubectl('get', 'cm', 'short', '-o', 'jsonpath={.metadata.annotations}')

/** Takes a verb on a resource from a role, and gives it back afterwards. */
async function withoutVerb(role: string, verb: string, resource: string, act: () => Promise<unknown>): Promise<void> {
  const patch = (rules: readonly PolicyRule[]) =>
    release.kubectl('patch', role, '--type=merge', '-p', JSON.stringify({ rules }))
  const { rules } = JSON.parse(await release.kubectl('get', role, '-o', 'json')) as { readonly rules: PolicyRule[] }
  await patch(without(rules, verb, resource))
  await act()
  await patch(rules)
}

/** Inserts a row while the operator may not write StatefulSets; returns its id. */
async function withDatabase(): Promise<string> {
  let id = ''
  await withoutVerb('clusterrole/tenure-databases', 'patch', 'statefulsets', async () => {
    id = await databases.insert('lacking', 'redis')
    await databases.untilError(id, 'cannot patch resource "statefulsets"')
  })
  return id
}

describe.skipIf(flavor === undefined)('the roles of the chart', () => {
  beforeAll(async () => {
    fixture = await ChartFixture.open()
    cluster = fixture.cluster
    postgres = await TestPostgres.start(flavor ?? 'system')
    release = await fixture.release('tenure', NAMESPACE)
    databases = await fixture.install(release, postgres, { leaseControllers: { settings: { leaseAdmission: true } } })
  })

  afterAll(async () => {
    await databases.stop()
    await postgres.stop()
    await fixture.close()
  })

  test('the role of applications is enough for everything that they do', async () => {
    const spec = {
      replicas: 1,
      image: 'nginx:1.29',
      config: { a: 'b' },
      ports: [{ port: 80 }],
      ingress: { host: 'example.com' },
      autoscaling: { maxReplicas: 2 },
      persistence: { size: '1Gi', mountPath: '/data' },
    }
    await applyApplication('full', spec)
    await applyApplication('once', { replicas: 1, image: 'busybox:1.36', run: 'Once' })
    await expect
      .poll(
        () =>
          release.kubectl(
            'get',
            'deploy,svc,cm,ing,hpa,pvc,jobs',
            '-l',
            'app.kubernetes.io/instance=full',
            '-o',
            'name',
          ),
        POLL_OPTIONS,
      )
      .toContain('horizontalpodautoscaler')
    await release.kubectl('wait', '--for=condition=Ready', '--timeout=90s', 'application/once')
    await release.kubectl('create', 'serviceaccount', 'deployer')
    await release.kubectl(
      'create',
      'rolebinding',
      'deployer',
      '--clusterrole=admin',
      `--serviceaccount=${NAMESPACE}:deployer`,
    )
    const token = await tokenOf(cluster, { namespace: NAMESPACE, name: 'deployer' })
    const url = await release.reachable(
      `http://${release.nameOf('applications')}/apis/cloudnative.elide.dev/v1/namespaces/${NAMESPACE}/applications`,
    )
    const send = async (method: string, path: string, body?: object): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      await response.text()
      return response.status
    }
    const web = { metadata: { name: 'web' }, spec: { replicas: 1, image: 'nginx:1.29' } }
    await expect.poll(() => send('POST', '', web), POLL_OPTIONS).toBe(201)
    // The second of two equal Events is a patch of the first.
    for (const replicas of [2, 3]) {
      await expect.poll(() => send('PUT', '/web', { ...web, spec: { ...web.spec, replicas } }), POLL_OPTIONS).toBe(200)
      await release.kubectl('wait', `--for=jsonpath={.status.replicas}=${replicas}`, '--timeout=90s', 'application/web')
    }
    expect(await send('DELETE', '/web')).toBeLessThan(300)
    await release.kubectl('delete', 'applications', '--all', '--timeout=90s')
    // Without its content the certificate is written again.
    await release.kubectl('patch', 'secret', 'elide-operator-webhook', '--type=merge', '-p', '{"data":null}')

    expect(await fixture.requestsOf(release, release.nameOf('applications')).refused()).toEqual([])
  })

  test('the roles of lease controllers are enough, and theirs of one kind has no unused verb', async () => {
    await applyLeaseController('maps', 'ConfigMap')
    await cluster.kubectl(['wait', '--for=condition=Ready', '--timeout=90s', 'leasecontroller/maps'])
    await release.launch(LEASED)
    await release.kubectl('create', 'configmap', 'short')
    // The second of two equal Events is a patch of the first.
    for (let round = 0; round < 2; round++) {
      await release.kubectl('annotate', 'configmap', 'short', `${TTL}=1h`)
      await expect.poll(annotations, POLL_OPTIONS).toContain('Lease active')
      await release.kubectl('annotate', 'configmap', 'short', `${TTL}-`)
      await expect.poll(annotations, POLL_OPTIONS).toBe('')
    }
    await release.kubectl('annotate', 'configmap', 'short', `${TTL}=1s`)
    await until(
      'the lease expires',
      async () => (await release.kubectl('get', 'cm', 'short', '--ignore-not-found')) === '',
    )
    await expect.poll(() => unusedOf(LEASED), POLL_OPTIONS).toEqual([])
    // It asks once whether there are cleanup jobs of an earlier process; this LeaseController allows none.
    expect(await fixture.requestsOf(release, LEASED).refused()).toEqual(['list jobs.batch'])
    await release.stop(LEASED)
    // A LeaseController that is suspended has no children.
    await release.kubectl('patch', 'leasecontroller', 'maps', '--type=merge', '-p', '{"spec":{"suspend":true}}')
    await expect
      .poll(() => release.kubectl('get', 'deploy,sa,svc', LEASED, '--ignore-not-found', '-o', 'name'), POLL_OPTIONS)
      .toBe('')
    await expect.poll(() => conditionsOf('leasecontroller/maps'), POLL_OPTIONS).toContain('Suspended')
    await release.kubectl('patch', 'secret', 'object-lease-operator-webhook', '--type=merge', '-p', '{"data":null}')

    expect(await fixture.requestsOf(release, release.nameOf('lease-controllers')).refused()).toEqual([])
  })

  test.each([
    ['applications', 'clusterrole/tenure-applications', 'ingresses.networking.k8s.io'],
    ['lease-controllers', 'clusterrole/tenure-lease-controllers', `leasecontrollers.${GROUP}`],
    ['databases', 'clusterrole/tenure-databases', 'statefulsets.apps'],
  ])('without the verb list on a kind %s are not ready, and name it', async (component, role, kind) => {
    const [resource = ''] = kind.split('.')
    const name = release.nameOf(component)
    await release.stop(name)
    await withoutVerb(role, 'list', resource, async () => {
      const process = await release.launch(name)
      const readiness = async (): Promise<string> => (await process.readiness())?.text ?? ''
      await expect
        .poll(readiness, POLL_OPTIONS)
        .toMatch(new RegExp(`Not allowed to watch ${kind}/v1.* grant the verbs list`))
      expect((await process.readiness())?.status).toBe(503)
      expect(process.child.output).toContain(`cannot list resource \\"${resource}\\"`)
    })
    await release.process(name).whenReady()
  })

  test('without the verb create on a kind claims name it in the log', async () => {
    const process = release.process(release.nameOf('claims'))
    await withoutVerb('role/tenure-claims-watched', 'create', 'pods', async () => {
      // One of the pool: it is replaced.
      await release.kubectl('delete', 'configmap', await aClaim(), '--wait=false')
      await until('the verb is named', () => process.child.output.includes('cannot create resource \\"pods\\"'))
    })
    expect(process.child.hasEnded).toBe(false)
  })

  test('without the verb patch on a kind the status names it, and heals when the verb is back', async () => {
    await withoutVerb('clusterrole/tenure-applications', 'patch', 'services', async () => {
      await applyApplication('lacking', { replicas: 1, image: 'nginx:1.29', ports: [{ port: 80 }] })
      await expect
        .poll(() => conditionsOf('application/lacking'), POLL_OPTIONS)
        .toContain('cannot patch resource \\"services\\"')
    })
    await withoutVerb('clusterrole/tenure-lease-controllers', 'patch', 'deployments', async () => {
      await applyLeaseController('lacking', 'Service')
      await expect
        .poll(() => conditionsOf('leasecontroller/lacking'), POLL_OPTIONS)
        .toContain('cannot patch resource \\"deployments\\"')
    })
    const id = await withDatabase()
    await release.kubectl(
      'wait',
      '--for=condition=Ready',
      '--timeout=90s',
      'application/lacking',
      'leasecontroller/lacking',
    )
    await databases.untilStatus(id, 'active')
    expect(await databases.actions(id)).toContain('resource.created')
  })

  test('no verb of the roles is unused', async () => {
    for (const component of ['applications', 'lease-controllers']) {
      const unused = async () =>
        (await unusedOf(release.nameOf(component))).filter((permission) => !NOT_AUDITED.has(permission))
      await expect.poll(async () => [component, ...(await unused())], POLL_OPTIONS).toEqual([component])
    }
  })
})
