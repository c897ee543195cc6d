/**
 * Installs the chart with Helm on a real cluster, as a user would. The test runs a pod of each Deployment as a process,
 * with the variables and the ServiceAccount of the pod, and the API server reaches its webhooks through its Service.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { type KubeObject, systemClock } from '@tenure/kube'
import { CustomResourceDefinition, type Job, Namespace, StatefulSet } from '@tenure/kube/kinds'
import { Discovery } from '@tenure/runtime'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { dryRun, monitoringDefinitions } from '../chart/dry-run.ts'
import { CHART, renderObjects } from '../chart/render.ts'
import { switches } from '../chart/switches.ts'
import type { RunningDatabases } from '../operators/databases/support.ts'
import { KUBERNETES_VERSION } from './binaries.ts'
import { ROOT } from './programs-under-test/child.ts'
import type { ClusterAccess } from './access.ts'
import { tokenOf } from './support/account.ts'
import { ChartFixture, COMPONENTS } from './support/chart-fixture.ts'
import { readyDeployments, type Release } from './support/release.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }
const NAMESPACE = 'operators'
const TTL = 'object-lease-controller.ullberg.us/ttl'
const [flavor] = postgresFlavors

let fixture: ChartFixture
let cluster: ClusterAccess

beforeAll(async () => {
  fixture = await ChartFixture.open()
  cluster = fixture.cluster
})

afterAll(() => fixture.close())

const nameOf = ({ kind, metadata }: KubeObject): string => [kind, metadata?.namespace, metadata?.name].join(' ')

const inOrder = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))

/** Returns the reason of a failure that kubectl prints. */
const refusalOf = async (...args: readonly string[]): Promise<string> =>
  (await cluster.runKubectl(['-n', NAMESPACE, ...args])).stderr

const application = (name: string, image: string): object => ({
  apiVersion: 'cloudnative.elide.dev/v1',
  kind: 'Application',
  metadata: { name, namespace: NAMESPACE },
  spec: { replicas: 2, image, ports: [{ port: 80 }] },
})

const webhooks = (): Promise<string> =>
  cluster.kubectl(['get', 'validatingwebhookconfiguration', 'elide-operator', '-o', 'jsonpath={.webhooks}'])

describe('helm template', () => {
  let discovery: Discovery

  beforeAll(async () => {
    const { api } = fixture.floor
    await api.create(Namespace, { metadata: { name: 'tenure-system' } })
    // They stay, so that releases have monitors too.
    for (const definition of monitoringDefinitions) await api.create(CustomResourceDefinition, definition)
    discovery = new Discovery(api.requester, systemClock)
  })

  test.each(switches)('$title: the API server accepts the objects, and our engine renders the same', async (given) => {
    const { apiVersions = [], values } = given
    const args = ['template', 'tenure', CHART, '--namespace', 'tenure-system', '--kube-version', KUBERNETES_VERSION]
    const more = apiVersions.flatMap((version) => ['--api-versions', version])
    const text = await fixture.helm.helm([...args, ...more, '--values', '-'], JSON.stringify(values))
    const objects = (loadAll(text) as readonly (KubeObject | null)[]).filter((object) => object !== null)
    expect(inOrder(objects)).toEqual(inOrder(renderObjects(values, given)))
    await dryRun(fixture.floor.api, discovery, objects)
  })
})

test('the commands of the guide install, test, upgrade and uninstall a release', async () => {
  const guide = await readFile(path.join(ROOT, 'docs/guides/production.md'), 'utf8')
  const commands = [...guide.matchAll(/^\$ helm (.*)$/gm)].map(([, command = '']) => command.split(' '))
  expect(commands.map(([verb]) => verb)).toEqual(['install', 'test', 'upgrade', 'uninstall'])
  for (const command of commands) await fixture.helm.helm(command)
  expect(await fixture.helm.helm(['list', '--all-namespaces', '--short'])).toBe('')
  const definitions = [
    'crd',
    'applications.cloudnative.elide.dev',
    'leasecontrollers.object-lease-controller.ullberg.us',
  ]
  await cluster.kubectl(['delete', ...definitions])
})

describe.skipIf(flavor === undefined)('a release', () => {
  let postgres: TestPostgres
  let databases: RunningDatabases
  let release: Release

  beforeAll(async () => {
    postgres = await TestPostgres.start(flavor ?? 'system')
    release = await fixture.release('prod', NAMESPACE)
    databases = await fixture.install(release, postgres, {
      leaseControllers: { settings: { leaseAdmission: true } },
      claims: { settings: { pools: { small: { count: 1 } } } },
    })
  })

  afterAll(async () => {
    await databases.stop()
    await postgres.stop()
  })

  test('its objects are ready, and kubectl shows them', async () => {
    expect(await readyDeployments(release)).toEqual([
      'prod-tenure-applications 3/3',
      'prod-tenure-claims 2/2',
      'prod-tenure-databases 2/2',
      'prod-tenure-lease-controllers 2/2',
    ])
    const listed = await fixture.helm.helm(['status', release.name, '--namespace', NAMESPACE, '--output', 'json'])
    expect(JSON.parse(listed)).toMatchObject({ info: { status: 'deployed' }, version: 1 })
  })

  test('Applications run, and the API server calls their webhooks through the Service', async () => {
    await cluster.kubectl(['apply', '-f', '-'], { stdin: application('shop', 'nginx:1.29') })
    await release.kubectl('wait', '--for=condition=Ready', '--timeout=90s', 'application/shop')
    const { stderr } = await cluster.runKubectl(['create', '-f', '-'], { stdin: application('other', 'ubuntu') })
    expect(stderr).toContain("denied the request: Base image 'ubuntu' is not allowed")
    await release.kubectl('delete', 'application', 'shop', '--timeout=90s')
  })

  test('a LeaseController is deployed with its own role, and expires its kind only', async () => {
    const stdin = {
      apiVersion: 'object-lease-controller.ullberg.us/v1alpha1',
      kind: 'LeaseController',
      metadata: { name: 'maps' },
      spec: { kind: 'ConfigMap', version: 'v1' },
    }
    await cluster.kubectl(['apply', '-f', '-'], { stdin })
    await cluster.kubectl(['wait', '--for=condition=Ready', '--timeout=90s', 'leasecontroller/maps'])
    await release.launch('object-lease-maps')
    await release.kubectl('create', 'configmap', 'short')
    expect(await refusalOf('annotate', 'configmap', 'short', `${TTL}=1h30`)).toContain('30 has no unit')
    await release.kubectl('annotate', 'configmap', 'short', `${TTL}=1s`)
    await expect
      .poll(() => release.kubectl('get', 'configmap', 'short', '--ignore-not-found', '-o', 'name'), POLL_OPTIONS)
      .toBe('')
    await release.stop('object-lease-maps')
    await cluster.kubectl(['delete', 'leasecontroller', 'maps', '--timeout=90s'])
  })

  test('a caller with the role of the notes takes a claim', async () => {
    await release.kubectl('create', 'serviceaccount', 'claimant')
    const take = async (): Promise<number> => {
      const token = await tokenOf(cluster, { namespace: NAMESPACE, name: 'claimant' })
      const url = await release.reachable(`http://${release.nameOf('claims')}:8080/claim`)
      const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
      await response.text()
      return response.status
    }
    expect(await take()).toBe(403)
    const role = `--role=${release.nameOf('claims-caller')}`
    await release.kubectl('create', 'rolebinding', 'claimant', role, `--serviceaccount=${NAMESPACE}:claimant`)
    await expect.poll(take, POLL_OPTIONS).toBe(201)
  })

  test('a row becomes a database', async () => {
    const id = await databases.insert('cache', 'redis')
    await databases.untilStatus(id, 'active')
    expect(await databases.exists(StatefulSet, 'cache')).toBe(true)
    await databases.update(id, { deleted_at: 'now()', config: `'{"delete_data": true}'` })
    await databases.untilStatus(id, 'deleted')
  })

  test('helm test passes, and what its Job runs finds every operator ready', async () => {
    expect(await release.run('test')).toMatch(/^Phase: +Succeeded$/m)
    const text = await fixture.helm.helm(['get', 'hooks', release.name, '--namespace', NAMESPACE])
    const [job] = loadAll(text) as readonly Job[]
    const { args = [], command = [] } = job?.spec?.template.spec?.containers[0] ?? {}
    const [script = '', ...urls] = args
    expect(urls).toHaveLength(COMPONENTS.length)
    const local = await Promise.all(urls.map((url) => release.reachable(url)))
    const { stdout } = await promisify(execFile)(process.execPath, [...command.slice(1), script, ...local])
    expect(stdout.trim().split('\n').toSorted()).toEqual(local.map((url) => `ready: ${url}`).toSorted())
  })

  test('no operator was refused anything', async () => {
    for (const component of COMPONENTS) {
      const requests = fixture.requestsOf(release, release.nameOf(component))
      expect([component, await requests.refused()]).toEqual([component, []])
    }
  })

  test('an upgrade changes what its values change, and keeps the webhooks', async () => {
    const before = await webhooks()
    expect(before).toContain(release.nameOf('applications'))
    await release.run('upgrade', ['--reuse-values'], { claims: { replicaCount: 3, settings: { defaultTtl: '5m' } } })
    expect(await readyDeployments(release)).toContain('prod-tenure-claims 3/3')
    expect(await webhooks()).toBe(before)
    const variables = '{range .spec.template.spec.containers[0].env[*]}{.name}={.value}{"\\n"}{end}'
    const env = await release.kubectl('get', 'deployment', release.nameOf('claims'), '-o', `jsonpath=${variables}`)
    expect(env.split('\n')).toContain('DEFAULT_TTL=5m')
  })

  test('an uninstalled release leaves its definitions, and nothing else', async () => {
    await release.stopAll()
    expect(await release.run('uninstall', ['--wait'])).toContain('kept due to the resource policy')
    const kinds = (await cluster.kubectl(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n')
    const stored = kinds.filter((kind) => !kind.startsWith('events') && !kind.startsWith('componentstatuses'))
    const labelled = ['-A', '-l', `app.kubernetes.io/instance=${release.name}`, '-o', 'name']
    const left = async (): Promise<readonly string[]> =>
      (await cluster.kubectl(['get', stored.join(','), ...labelled])).split('\n').filter((line) => line !== '')
    await expect
      .poll(left, POLL_OPTIONS)
      .toEqual([
        'customresourcedefinition.apiextensions.k8s.io/applications.cloudnative.elide.dev',
        'customresourcedefinition.apiextensions.k8s.io/leasecontrollers.object-lease-controller.ullberg.us',
      ])
    // The Secret with the password is the user's, and a lease controller makes its Lease itself. The garbage collector
    // deletes the children of the LeaseController.
    const names = async (): Promise<readonly string[]> =>
      (await release.kubectl('get', 'secrets,leases', '-o', 'name'))
        .trim()
        .split('\n')
        .filter((name) => !name.includes('/object-lease-controller-'))
    await expect.poll(names, POLL_OPTIONS).toEqual(['secret/nest-db-credentials'])
  })
})
