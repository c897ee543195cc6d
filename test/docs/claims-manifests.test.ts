import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { claimRules } from '@tenure/claims'
import { startControlPlane } from '@tenure/controlplane'
import { renderChartFile } from '@tenure/gotemplate'
import { Client, type KubeObject, systemClock } from '@tenure/kube'
import { Discovery, type PolicyRule } from '@tenure/runtime'
import type { YamlValue } from '@tenure/yaml'
import { load, loadAll } from 'js-yaml'
import { expect, test } from 'vitest'

const claims = path.resolve(import.meta.dirname, '../../packages/claims')
const chart = path.join(claims, 'charts/claim-controller')
const read = (...parts: readonly string[]): string => readFileSync(path.join(claims, ...parts), 'utf8')

interface Values {
  readonly [key: string]: YamlValue | Values
}

/** The objects of the chart, rendered as Helm does. */
function rendered(changes: Values = {}): readonly KubeObject[] {
  const values = { ...(load(read('charts/claim-controller/values.yaml')) as Values), ...changes }
  const files = readdirSync(path.join(chart, 'templates')).filter((file) => file.endsWith('.yaml'))
  return files.flatMap((file) => {
    const text = read('charts/claim-controller/templates', file)
    const output = renderChartFile(text, values, { release: 'claim-controller', namespace: 'default' })
    return (loadAll(output) as readonly (KubeObject | null)[]).filter((object) => object !== null)
  })
}

/** Creates the objects on an API server, which checks them against its schemas. */
async function create(objects: readonly KubeObject[]): Promise<readonly string[]> {
  const plane = await startControlPlane({ port: false, controllers: false })
  try {
    const api = new Client({ transport: plane.transport })
    const discovery = new Discovery(api.requester, systemClock)
    const created: string[] = []
    for (const object of objects) {
      const [version = '', group = ''] = (object.apiVersion ?? '').split('/').toReversed()
      const kind = await discovery.kind({ group, version, kind: object.kind ?? '' })
      const stored = await api.create(kind, object, { fieldValidation: 'Strict' })
      created.push(`${object.kind} ${stored.metadata.name}`)
    }
    return created
  } finally {
    await plane.stop()
  }
}

const find = (objects: readonly KubeObject[], kind: string): Readonly<Record<string, unknown>> | undefined =>
  objects.find((object) => object.kind === kind) as Readonly<Record<string, unknown>> | undefined

test('the manifests of the claims operator are valid, and grant nothing outside of one namespace', async () => {
  const objects = ['config/rbac/role.yaml', 'config/manager/deployment.yaml'].flatMap(
    (file) => loadAll(read(file)) as readonly KubeObject[],
  )
  expect(objects.map(({ kind }) => kind)).toEqual(['ServiceAccount', 'Role', 'RoleBinding', 'Deployment', 'Service'])
  expect(await create(objects)).toHaveLength(5)
})

/** One line per resource: the order and the grouping do not matter. */
const flat = (given: readonly PolicyRule[]): readonly string[] =>
  given
    .flatMap(({ resources, resourceNames, verbs }) =>
      (resources ?? []).map((resource) => JSON.stringify([resource, verbs, resourceNames])),
    )
    .toSorted()

test('the chart renders valid objects with the rules of the code', async () => {
  const objects = rendered()
  expect(new Set(objects.map(({ kind }) => kind))).toEqual(
    new Set(['Deployment', 'Role', 'RoleBinding', 'Service', 'ServiceAccount']),
  )
  const rules = (find(objects, 'Role')?.['rules'] ?? []) as readonly PolicyRule[]
  expect(flat(rules)).toEqual(flat(claimRules()))
  expect(await create(objects)).toHaveLength(5)
})

test('the values of the seed choose the image, and a template of its own is mounted', async () => {
  const objects = rendered({
    image: { repository: 'nonot/claim-controller', tag: 'dev', pullPolicy: 'Always' },
    template: 'kind: Pod\nname: {{ .Release.Name }}',
    templateValues: 'a: 1',
  })
  expect(find(objects, 'ConfigMap')).toMatchObject({
    data: { 'resources.yaml': 'kind: Pod\nname: {{ .Release.Name }}', 'values.yaml': 'a: 1' },
  })
  expect(find(objects, 'Deployment')).toMatchObject({
    spec: {
      template: {
        spec: {
          containers: [{ image: 'nonot/claim-controller:dev', volumeMounts: [{ name: 'template' }] }],
          volumes: [{ name: 'template' }],
        },
      },
    },
  })
  expect(await create(objects)).toHaveLength(6)
})
