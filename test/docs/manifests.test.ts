import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import { expect, test } from 'vitest'
import { manifests } from '../../scripts/manifests/index.ts'

const root = path.resolve(import.meta.dirname, '../..')

test.each(manifests())('$file is up to date with scripts/generate-manifests.ts', ({ file, text }) => {
  expect(readFileSync(path.join(root, file), 'utf8')).toBe(text)
})

test('every definition in deploy/crds is generated from code', () => {
  const made = manifests().map(({ file }) => file)
  expect(readdirSync(path.join(root, 'deploy/crds')).map((file) => `deploy/crds/${file}`)).toEqual(
    made.filter((file) => file.startsWith('deploy/crds/')).toSorted(),
  )
})

test('the Deployment, its Service and its role bindings refer to each other', () => {
  interface Shown {
    readonly kind: string
    readonly metadata: { readonly name: string; readonly namespace?: string }
    readonly [field: string]: unknown
  }
  const text = readFileSync(path.join(root, 'deploy/applications.yaml'), 'utf8')
  const objects = loadAll(text) as readonly Shown[]
  const find = (kind: string): Shown | undefined => objects.find((object) => object.kind === kind)
  expect(find('Deployment')).toMatchObject({
    metadata: { namespace: 'elide-system' },
    spec: { replicas: 3, template: { spec: { serviceAccountName: find('ServiceAccount')?.metadata.name } } },
  })
  // The webhooks are registered behind a Service of this name, in the namespace of the pods.
  expect(find('Service')).toMatchObject({
    metadata: { name: 'elide-operator', namespace: 'elide-system' },
    spec: { ports: [{ port: 80 }, { port: 8080 }, { port: 443, targetPort: 9443 }] },
  })
  const subjects = [{ kind: 'ServiceAccount', name: 'elide-operator', namespace: 'elide-system' }]
  expect([find('ClusterRoleBinding'), find('RoleBinding')]).toMatchObject([{ subjects }, { subjects }])
})

test('lease admission adds a Service for the operator and access to its own Secret only', () => {
  const [operator, admission] = ['deploy/lease-controllers.yaml', 'deploy/lease-admission.yaml'].map((file) => {
    const objects = loadAll(readFileSync(path.join(root, file), 'utf8')) as readonly { readonly kind: string }[]
    return new Map(objects.map((object) => [object.kind, object]))
  })
  expect(operator?.get('Deployment')).toMatchObject({
    metadata: { name: 'object-lease-operator', namespace: 'object-lease-system' },
    spec: { template: { metadata: { labels: { app: 'object-lease-operator' } } } },
  })
  expect(admission?.get('Service')).toMatchObject({
    metadata: { name: 'object-lease-operator', namespace: 'object-lease-system' },
    spec: { selector: { app: 'object-lease-operator' }, ports: [{ port: 443, targetPort: 9443 }] },
  })
  expect(admission?.get('Role')).toMatchObject({
    rules: [{ verbs: ['create'] }, { resources: ['secrets'], resourceNames: ['object-lease-operator-webhook'] }],
  })
})
