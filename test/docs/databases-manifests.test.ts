import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { startControlPlane } from '@tenure/controlplane'
import { databasesConfig, databasesRbac } from '@tenure/databases'
import { renderChartFile } from '@tenure/gotemplate'
import { Client, type KubeObject, systemClock } from '@tenure/kube'
import { Discovery, type PolicyRule } from '@tenure/runtime'
import { defineConfiguration, readConfiguration } from '@tenure/runtime/configuration'
import type { YamlValue } from '@tenure/yaml'
import { load, loadAll } from 'js-yaml'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const chart = path.join(root, 'packages/databases/charts/nest-controller')
const read = (...parts: readonly string[]): string => readFileSync(path.join(...parts), 'utf8')

interface Values {
  readonly [key: string]: YamlValue | Values
}

/** The objects of the chart, rendered as Helm does. */
function rendered(changes: Values = {}): readonly KubeObject[] {
  const values = { ...(load(read(chart, 'values.yaml')) as Values), ...changes }
  const files = readdirSync(path.join(chart, 'templates')).filter((file) => file.endsWith('.yaml'))
  return files.flatMap((file) => {
    const text = read(chart, 'templates', file)
    const output = renderChartFile(text, values, { release: 'nest-controller', namespace: 'nest-system' })
    return (loadAll(output) as readonly (KubeObject | null)[]).filter((object) => object !== null)
  })
}

const plain = (): readonly KubeObject[] => loadAll(read(root, 'deploy/databases.yaml')) as readonly KubeObject[]

/** Creates the objects on an API server, which checks them against its schemas. */
async function create(objects: readonly KubeObject[]): Promise<number> {
  const plane = await startControlPlane({ port: false, controllers: false })
  try {
    const api = new Client({ transport: plane.transport })
    const discovery = new Discovery(api.requester, systemClock)
    let created = 0
    for (const object of objects) {
      const [version = '', group = ''] = (object.apiVersion ?? '').split('/').toReversed()
      const kind = await discovery.kind({ group, version, kind: object.kind ?? '' })
      await api.create(kind, object, { fieldValidation: 'Strict' })
      created++
    }
    return created
  } finally {
    await plane.stop()
  }
}

const find = (objects: readonly KubeObject[], kind: string): Readonly<Record<string, unknown>> | undefined =>
  objects.find((object) => object.kind === kind) as Readonly<Record<string, unknown>> | undefined

/** One line per resource: the order and the grouping do not matter. */
const flat = (given: readonly PolicyRule[] = []): readonly string[] =>
  given
    .flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
      (resources ?? []).map((resource) => JSON.stringify([apiGroups, resource, verbs, resourceNames])),
    )
    .toSorted()

const rulesOf = (objects: readonly KubeObject[], kind: string): readonly PolicyRule[] =>
  (find(objects, kind)?.['rules'] ?? []) as readonly PolicyRule[]

interface ContainerText {
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
}

/** The settings that the container of a Deployment gets, read as the operator reads them. */
async function settingsOf(objects: readonly KubeObject[]) {
  const { spec } = find(objects, 'Deployment') as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [ContainerText] } } }
  }
  const [container] = spec.template.spec.containers
  const environment = Object.fromEntries(container.env.map(({ name, value = 'from elsewhere' }) => [name, value]))
  const configuration = defineConfiguration({ program: 'tenure databases', summary: '', options: databasesConfig })
  const loaded = await readConfiguration(configuration, { argv: [], environment })
  if (loaded.kind === 'help') throw new Error('The settings were not read')
  return { container, environment, values: loaded.values }
}

test('the manifest is valid, and its objects refer to each other', async () => {
  const objects = plain()
  expect(objects.map(({ kind }) => kind)).toEqual([
    'Namespace',
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'Role',
    'RoleBinding',
    'Deployment',
    'Service',
  ])
  const subjects = [{ kind: 'ServiceAccount', name: 'nest-controller', namespace: 'nest-system' }]
  expect([find(objects, 'ClusterRoleBinding'), find(objects, 'RoleBinding')]).toMatchObject([
    { subjects },
    { subjects },
  ])
  expect(find(objects, 'Deployment')).toMatchObject({
    spec: { template: { spec: { serviceAccountName: 'nest-controller' } } },
  })
  expect(await create(objects)).toBe(8)
})

test("the manifest has the environment, the ports and the probes of the original's", async () => {
  const { container, environment, values } = await settingsOf(plain())
  expect(environment).toMatchObject({
    DB_HOST: 'postgresql.nest-system.svc.cluster.local',
    DB_PORT: '5432',
    DB_USER: 'nest',
    DB_NAME: 'nest',
    IN_CLUSTER: 'true',
    LOG_LEVEL: 'info',
    RECONCILE_INTERVAL: '30s',
  })
  expect(values).toMatchObject({ dbPort: 5432, inCluster: true, reconcileInterval: 30_000 })
  expect(container).toMatchObject({
    ports: [
      { name: 'health', containerPort: values.healthCheckPort },
      { name: 'metrics', containerPort: values.metricsPort },
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
  })
})

test('the chart renders valid objects with the rules of the code, and settings that the operator reads', async () => {
  const objects = rendered()
  expect(flat(rulesOf(objects, 'ClusterRole'))).toEqual(flat(databasesRbac.cluster))
  expect(flat(rulesOf(objects, 'Role'))).toEqual(flat(databasesRbac.namespace))
  const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'nest-system' } }
  expect(await create([namespace, ...objects])).toBe(8)
  const { environment, values } = await settingsOf(
    rendered({
      database: {
        ...(load(read(chart, 'values.yaml')) as { database: Values }).database,
        sslMode: 'verify-full',
        port: 6432,
      },
    }),
  )
  expect(values).toMatchObject({ dbPort: 6432, dbSslMode: 'verify-full', workerCount: 5, backoffMax: 300_000 })
  const known = new Set(
    defineConfiguration({ program: '', summary: '', options: databasesConfig }).rows.map((row) => row.environment),
  )
  expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([])
})
