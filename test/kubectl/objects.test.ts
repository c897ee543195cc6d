/** kubectl reads and writes objects on the embedded control plane. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { type EmbeddedKubectl, heading, rows, startEmbedded } from './embedded.ts'

const POLL_OPTIONS = { timeout: 30_000, interval: 50 }

let cluster: EmbeddedKubectl
let count = 0
let namespace: string

const kubectl = (...args: readonly string[]): Promise<string> => cluster.in(namespace, args)
const apply = (object: object, ...args: readonly string[]): Promise<string> =>
  cluster.in(namespace, ['apply', '-f', '-', ...args], { stdin: object })
const settings = (data: object, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', ...more },
  data,
})
const list = (items: readonly object[]): object => ({ apiVersion: 'v1', kind: 'List', items })
const dataOf = async (name: string): Promise<unknown> =>
  JSON.parse(await kubectl('get', 'configmap', name, '-o', 'jsonpath={.data}'))

beforeAll(async () => {
  cluster = await startEmbedded()
})

afterAll(() => cluster.stop())

beforeEach(async () => {
  namespace = `kubectl-${count++}`
  await cluster.kubectl(['create', 'namespace', namespace])
})

describe('kubectl create', () => {
  test('create makes objects from arguments and files, and reports existing ones', async () => {
    expect(await kubectl('create', 'configmap', 'settings', '--from-literal=a=1')).toBe('configmap/settings created\n')
    expect(await kubectl('create', 'secret', 'generic', 'key', '--from-literal=p=hunter2')).toBe('secret/key created\n')
    expect(await kubectl('create', 'serviceaccount', 'robot')).toBe('serviceaccount/robot created\n')
    const again = await cluster.tryIn(namespace, ['create', 'configmap', 'settings'])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('configmaps "settings" already exists') })
    expect(await dataOf('settings')).toEqual({ a: '1' })
    expect(await kubectl('get', 'secret', 'key', '-o', 'jsonpath={.data.p}')).toBe(btoa('hunter2'))
  })

  test('a server-side dry run stores nothing', async () => {
    expect(await kubectl('create', 'configmap', 'a', '--dry-run=server')).toBe('configmap/a created (server dry run)\n')
    const missing = await cluster.tryIn(namespace, ['get', 'configmap', 'a'])
    expect(missing.stderr).toBe('Error from server (NotFound): configmaps "a" not found\n')
  })

  test("unknown fields are rejected with the server's message", async () => {
    const object = { ...settings({}), nonsense: 1 }
    const refused = await cluster.tryIn(namespace, ['create', '-f', '-'], { stdin: object })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('strict decoding error: unknown field "nonsense"')
  })
})

describe('kubectl get', () => {
  beforeEach(async () => {
    await apply(settings({ a: '1', b: '2' }, { labels: { app: 'shop' } }))
  })

  test('get prints a table, with more columns for -o wide', async () => {
    const table = await kubectl('get', 'cm', 'settings')
    expect(heading(table)).toEqual(['NAME', 'DATA', 'AGE'])
    expect(rows(table)).toEqual([['settings', '2', expect.stringMatching(/^\d+s$/)]])
    await kubectl('create', 'service', 'clusterip', 'web', '--tcp=80:8080')
    const wide = await kubectl('get', 'services', '-o', 'wide')
    expect(heading(wide)).toEqual(['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE', 'SELECTOR'])
    expect(rows(wide)).toEqual([
      ['web', 'ClusterIP', expect.stringMatching(/^10\./), '<none>', '80/TCP', expect.any(String), 'app=web'],
    ])
  })

  test('get prints YAML, JSON, names, custom columns and JSON paths', async () => {
    const yaml = await kubectl('get', 'cm', 'settings', '-o', 'yaml')
    expect(yaml).toContain('apiVersion: v1\ndata:\n  a: "1"\n  b: "2"\nkind: ConfigMap\nmetadata:\n')
    expect(yaml).not.toContain('managedFields')
    expect(await kubectl('get', 'cm', 'settings', '-o', 'name')).toBe('configmap/settings\n')
    expect(await kubectl('get', 'cm', 'settings', '-o', 'jsonpath={.data.a}-{.metadata.labels.app}')).toBe('1-shop')
    const custom = await kubectl('get', 'cm', 'settings', '-o', 'custom-columns=N:.metadata.name,B:.data.b')
    expect(rows(custom)).toEqual([['settings', '2']])
    const list = JSON.parse(await kubectl('get', 'cm', '-l', 'app=shop', '-o', 'json')) as { items: readonly unknown[] }
    expect(list.items).toHaveLength(1)
  })

  test('get selects by labels and fields, in one namespace or all', async () => {
    await kubectl('create', 'configmap', 'other')
    expect(await kubectl('get', 'cm', '-l', 'app in (shop)', '-o', 'name')).toBe('configmap/settings\n')
    expect(await kubectl('get', 'cm', '--field-selector', 'metadata.name=other', '-o', 'name')).toBe(
      'configmap/other\n',
    )
    expect(await kubectl('get', 'cm', '-l', 'app=none')).toBe('')
    const everywhere = await kubectl('get', 'cm', '-A', '-l', 'app=shop', '--no-headers')
    expect(everywhere).toContain(`${namespace} `)
  })

  test('get -w prints every change', async () => {
    const watch = cluster.start(['-n', namespace, 'get', 'cm', '-l', 'app=shop', '-w', '--no-headers', '-o', 'name'])
    const events = cluster.start([
      '-n',
      namespace,
      'get',
      'cm',
      '-l',
      'app=shop',
      '-w',
      '--output-watch-events',
      '--no-headers',
    ])
    try {
      await expect.poll(() => watch.lines(), POLL_OPTIONS).toEqual(['configmap/settings'])
      await expect.poll(() => events.lines().length, POLL_OPTIONS).toBe(1)
      await apply(settings({ a: '1', b: '2', c: '3' }, { labels: { app: 'shop' } }))
      await kubectl('delete', 'cm', 'settings')
      await expect
        .poll(() => events.lines().map((line) => line.split(/\s+/).slice(0, 3)), POLL_OPTIONS)
        .toEqual([
          ['ADDED', 'settings', '2'],
          ['MODIFIED', 'settings', '3'],
          ['DELETED', 'settings', '3'],
        ])
    } finally {
      await Promise.all([watch.end(), events.end()])
    }
  })
})

describe('kubectl describe', () => {
  test('describe prints an object and its Events', async () => {
    await apply(settings({ greeting: 'hello' }, { labels: { app: 'shop' }, annotations: { why: 'test' } }))
    const text = await kubectl('describe', 'configmap', 'settings')
    expect(text).toMatch(/^Name:\s+settings\nNamespace:\s+kubectl-\d+\nLabels:\s+app=shop\nAnnotations:\s+why: test\n/)
    expect(text).toContain('greeting:\n----\nhello\n')
    const about = await cluster.kubectl(['describe', 'namespace', namespace])
    expect(about).toMatch(/Status:\s+Active/)
  })
})

describe('kubectl apply', () => {
  test('apply creates, keeps, changes and removes fields', async () => {
    expect(await apply(settings({ a: '1', b: '2' }))).toBe('configmap/settings created\n')
    expect(await apply(settings({ a: '1', b: '2' }))).toBe('configmap/settings unchanged\n')
    expect(await apply(settings({ a: '9' }))).toBe('configmap/settings configured\n')
    expect(await dataOf('settings')).toEqual({ a: '9' })
  })

  test('apply --server-side shares an object between managers and reports conflicts', async () => {
    const serverSide = (manager: string, data: object, ...more: readonly string[]): Promise<string> =>
      apply(settings(data), '--server-side', `--field-manager=${manager}`, ...more)
    expect(await serverSide('one', { a: '1' })).toBe('configmap/settings serverside-applied\n')
    expect(await serverSide('two', { b: '2' })).toBe('configmap/settings serverside-applied\n')
    const refused = await cluster.tryIn(namespace, ['apply', '--server-side', '--field-manager=two', '-f', '-'], {
      stdin: settings({ a: '2' }),
    })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "one": .data.a')
    await serverSide('two', { a: '2' }, '--force-conflicts')
    expect(await dataOf('settings')).toEqual({ a: '2' })
  })

  test('an invalid object is rejected with all reasons', async () => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: -1 } }
    const refused = await cluster.tryIn(namespace, ['apply', '-f', '-'], { stdin: deployment })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('The Deployment "web" is invalid:')
    expect(refused.stderr).toContain('* spec.replicas: Invalid value: -1: must be greater than or equal to 0')
    expect(refused.stderr).toContain('* spec.selector: Required value')
  })

  test('apply takes a list, and --prune deletes objects that left the list', async () => {
    const labels = { set: 'one' }
    const both = [settings({ a: '1' }, { labels }), { ...settings({}), metadata: { name: 'old', labels } }]
    expect(await apply(list(both))).toBe('configmap/settings created\nconfigmap/old created\n')
    const prune = ['--prune', '-l', 'set=one', '--prune-allowlist=core/v1/ConfigMap']
    expect(await apply(list(both.slice(0, 1)), ...prune)).toBe('configmap/settings unchanged\nconfigmap/old pruned\n')
  })

  test('diff shows the changes that apply would make', async () => {
    await apply(settings({ a: '1' }))
    const { code, stdout } = await cluster.tryIn(namespace, ['diff', '-f', '-'], { stdin: settings({ a: '2' }) })
    expect(code).toBe(1)
    expect(stdout).toContain('-  a: "1"\n+  a: "2"')
  })
})

describe('kubectl patch, label and annotate', () => {
  beforeEach(async () => {
    await apply(settings({ a: '1', b: '2' }))
  })

  test.each([
    ['strategic', '{"data":{"b":null,"c":"3"}}'],
    ['merge', '{"data":{"b":null,"c":"3"}}'],
    ['json', '[{"op":"remove","path":"/data/b"},{"op":"add","path":"/data/c","value":"3"}]'],
  ])('a %s patch changes the named fields', async (type, patch) => {
    const said = await kubectl('patch', 'cm', 'settings', `--type=${type}`, '-p', patch)
    expect(said).toBe('configmap/settings patched\n')
    expect(await dataOf('settings')).toEqual({ a: '1', c: '3' })
    const again = await kubectl('patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"c":"3"}}')
    expect(again).toBe('configmap/settings patched (no change)\n')
  })

  test('labels and annotations are set, overwritten only with --overwrite, and removed', async () => {
    const labels = (): Promise<string> => kubectl('get', 'cm', 'settings', '-o', 'jsonpath={.metadata.labels}')
    expect(await kubectl('label', 'cm', 'settings', 'tier=front')).toBe('configmap/settings labeled\n')
    const refused = await cluster.tryIn(namespace, ['label', 'cm', 'settings', 'tier=back'])
    expect(refused.stderr).toContain('already has a value (front), and --overwrite is false')
    await kubectl('label', 'cm', 'settings', 'tier=back', '--overwrite')
    expect(await labels()).toBe('{"tier":"back"}')
    expect(await kubectl('label', 'cm', 'settings', 'tier-')).toBe('configmap/settings unlabeled\n')
    expect(await labels()).toBe('')
    expect(await kubectl('annotate', 'cm', 'settings', 'note=hello')).toBe('configmap/settings annotated\n')
    expect(await kubectl('get', 'cm', 'settings', '-o', 'jsonpath={.metadata.annotations.note}')).toBe('hello')
  })
})

describe('kubectl api-resources, api-versions, explain and version', () => {
  test('api-resources, api-versions and explain know built-in and custom kinds', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'lamps.kubectl.test' },
      spec: {
        group: 'kubectl.test',
        scope: 'Namespaced',
        names: { plural: 'lamps', kind: 'Lamp', shortNames: ['lp'], categories: ['all'] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            additionalPrinterColumns: [{ name: 'Watts', type: 'integer', jsonPath: '.spec.watts' }],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                description: 'Gives light.',
                properties: {
                  spec: {
                    type: 'object',
                    properties: { watts: { type: 'integer', minimum: 1, description: 'How bright it is.' } },
                  },
                },
              },
            },
          },
        ],
      },
    }
    expect(await apply(crd)).toBe('customresourcedefinition.apiextensions.k8s.io/lamps.kubectl.test created\n')
    await cluster.kubectl(['wait', '--for=condition=Established', 'crd/lamps.kubectl.test', '--timeout=30s'])

    const resources = rows(await cluster.kubectl(['api-resources', '--cached=false']))
    expect(resources).toContainEqual(['deployments', 'deploy', 'apps/v1', 'true', 'Deployment'])
    expect(resources).toContainEqual(['nodes', 'no', 'v1', 'false', 'Node'])
    expect(resources).toContainEqual(['lamps', 'lp', 'kubectl.test/v1', 'true', 'Lamp'])
    expect((await cluster.kubectl(['api-versions'])).split('\n')).toEqual(
      expect.arrayContaining(['apps/v1', 'v1', 'kubectl.test/v1']),
    )

    await apply({ apiVersion: 'kubectl.test/v1', kind: 'Lamp', metadata: { name: 'desk' }, spec: { watts: 7 } })
    const table = await kubectl('get', 'lp')
    expect(heading(table)).toEqual(['NAME', 'WATTS'])
    expect(rows(table)).toEqual([['desk', '7']])
    const refused = await cluster.tryIn(namespace, [
      'patch',
      'lamp',
      'desk',
      '--type=merge',
      '-p',
      '{"spec":{"watts":0}}',
    ])
    expect(refused.stderr).toContain(
      'spec.watts: Invalid value: 0: spec.watts in body should be greater than or equal to 1',
    )

    const lamp = await cluster.kubectl(['explain', 'lamp'])
    expect(lamp).toContain('KIND:       Lamp')
    expect(lamp).toContain('Gives light.')
    expect(await cluster.kubectl(['explain', 'lamp.spec.watts'])).toContain('How bright it is.')
    expect(await cluster.kubectl(['explain', 'lamp.metadata.finalizers'])).toContain('Must be empty before the object')
    await cluster.kubectl(['delete', 'crd', 'lamps.kubectl.test'])
    expect(await cluster.kubectl(['get', 'crd', 'lamps.kubectl.test', '--ignore-not-found'])).toBe('')
  })

  test('explain prints the fields of built-in kinds', async () => {
    const text = await cluster.kubectl(['explain', 'deployment.spec.strategy'])
    expect(text).toContain('GROUP:      apps\nKIND:       Deployment\nVERSION:    v1')
    expect(text).toContain('rollingUpdate\t<RollingUpdateDeployment>')
    expect(text).toContain('The deployment strategy to use to replace existing pods with new ones.')
    expect(await cluster.kubectl(['explain', 'pod.spec.containers.image'])).toContain('Container image name.')
    expect(await cluster.kubectl(['explain', 'configmaps'])).toContain('ConfigMap holds configuration data for pods')
  })

  test('version prints the Kubernetes version', async () => {
    expect(await cluster.kubectl(['version'])).toMatch(/Server Version: v1\.36\.\d+/)
  })

  test('auth can-i and auth whoami work', async () => {
    expect(await kubectl('auth', 'can-i', 'create', 'pods')).toBe('yes\n')
    expect(await kubectl('auth', 'whoami')).toMatch(/Groups\s+\[system:masters/)
  })
})
