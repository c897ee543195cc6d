import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isNotFound } from '@tenure/kube'
import { ConfigMap, Pod } from '@tenure/kube/kinds'
import { LeaseController } from '@tenure/leases'
import { defaultValues, defineConfiguration, readConfiguration } from '@tenure/runtime/configuration'
import { loadAll } from 'js-yaml'
import { afterEach, describe, expect, test } from 'vitest'
import { packageSources } from '../house/sources.ts'
import { InProcessFloor } from '../floors/index.ts'
import { RunningClaims } from '../operators/claims/support.ts'
import { leaseOperator, type Original, originals } from './originals.ts'

const root = path.resolve(import.meta.dirname, '../..')
const page = (file: string): string => readFileSync(path.join(root, 'docs', file), 'utf8')
const sources = packageSources()
  .filter(({ path: file }) => !/\.test(ing)?\.ts$|\/testing\//.test(file))
  .map(({ text }) => text)
  .join('\n')
const documented = page('reference/metrics.md')

/** Whether the code has the name, whole or joined from a prefix and the rest. */
const isSpelled = (name: string): boolean =>
  sources.includes(name) || name.split('/').every((part) => sources.includes(part))

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function configurationOf({ operator }: Original) {
  const { config, configEnvironment } = operator
  return defineConfiguration({
    program: `tenure ${operator.name}`,
    summary: '',
    options: config,
    configEnvironment: configEnvironment === undefined ? [] : [configEnvironment].flat(),
  })
}

/** The flags that `tenure leases` needs in any case. */
const required = ({ operator }: Original): readonly string[] =>
  operator.name === 'leases' ? ['--version=v1', '--kind=Pod'] : []

const withFile = originals.filter(({ file }) => Object.keys(file).length > 0)

test.each(withFile)('an installation of $name starts with its settings file', async (original) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tenure-originals-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'config.json')
  writeFileSync(file, JSON.stringify(original.file))
  const configuration = configurationOf(original)
  const [variable = ''] = configuration.configEnvironment
  const loaded = await readConfiguration(configuration, { argv: [], environment: { [variable]: file } })
  expect(loaded).toMatchObject({ kind: 'values', values: { preProvisionClaimsCount: 2 } })
})

describe.each(originals)('an installation of $name', (original) => {
  const configuration = configurationOf(original)
  const read = (argv: readonly string[], environment: Readonly<Record<string, string>>) =>
    readConfiguration(configuration, { argv: [...argv], environment })

  test('it starts with its environment variables, and the documented defaults are ours', async () => {
    const { environment, operator, withoutDefault } = original
    expect(await read([], environment)).toMatchObject({ kind: 'values' })
    const defaults = Object.entries(environment).filter(([name]) => !withoutDefault.includes(name))
    const known = new Set(configuration.rows.map((row) => row.environment))
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([])
    const loaded = await read(required(original), Object.fromEntries(defaults))
    const names = new Set(defaults.map(([name]) => name))
    const keys = configuration.rows.filter((row) => row.environment && names.has(row.environment)).map(({ key }) => key)
    const expected = Object.entries(defaultValues(operator.config)).filter(([key]) => keys.includes(key))
    expect(loaded).toMatchObject({ kind: 'values', values: Object.fromEntries(expected) })
  })

  test('it starts with its flags, with one dash and with two', async () => {
    const pairs = Object.entries(original.flags)
    for (const dash of ['-', '--']) {
      const argv = [...required(original), ...pairs.map(([flag, value]) => `${dash}${flag}=${value}`)]
      expect(await read(argv, {})).toMatchObject({ kind: 'values' })
    }
  })

  test('its metrics are on the page of all metrics', () => {
    expect(original.metrics.filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
  })

  test('its annotations, labels and names are in the code and in its guide', () => {
    const guide = page(`guides/migrating/${original.guide}`)
    expect(original.names.filter((name) => !isSpelled(name))).toEqual([])
    expect(original.names.filter((name) => !guide.includes(name))).toEqual([])
  })

  test('its guide names every variable and flag', () => {
    const guide = page(`guides/migrating/${original.guide}`)
    const named = [...Object.keys(original.environment), ...Object.keys(original.flags).map((flag) => `-${flag}`)]
    expect(named.filter((name) => !guide.includes(name))).toEqual([])
  })
})

test(
  'a claim of the original claim-controller goes on, and ends when its annotation says',
  { timeout: 120_000 },
  async () => {
    const floor = await InProcessFloor.enter()
    cleanups.push(() => floor.leave())
    const { api } = floor
    const namespace = await floor.namespace('claims')
    const id = 'k3j9x0q2'
    const name = `claim-${id}`
    const labels = { 'claim-controller.io/managed-by': 'claim-controller', 'claim-controller.io/claim': name }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels },
      spec: { containers: [{ name: 'main', image: 'nginx' }] },
    }
    const at = (offset: number): string => new Date(floor.clock.now() + offset).toISOString().replace(/\.\d+Z/, 'Z')
    const claim = await api.create(ConfigMap, {
      metadata: {
        name,
        namespace,
        labels: { ...labels, 'claim-controller.io/claim.id': id },
        annotations: {
          'claim-controller.io/created-by': 'claim-controller',
          'claim-controller.io/pre-provisioned': 'false',
          'claim-controller.io/claimed-at': at(-60_000),
          'claim-controller.io/expires-at': at(300_000),
        },
      },
      data: { renderedResources: JSON.stringify([pod]), returnValues: '{}', claimStatus: 'ready' },
    })
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: claim.metadata.uid, controller: true }
    await api.create(Pod, { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } })
    const running = await RunningClaims.start(floor, { settings: { namespace } })
    cleanups.push(() => running.stop())
    expect(await running.send('GET', `/claim/${id}`)).toMatchObject({ status: 200 })
    await floor.pass(240_000)
    await api.get(Pod, { name, namespace })
    expect(await running.send('POST', `/renew/${id}`, { ttl: '2m' })).toMatchObject({ status: 200 })
    await floor.pass(90_000)
    await api.get(Pod, { name, namespace })
    await floor.pass(60_000)
    await floor.until('the claim and its pod are gone', async () => {
      const gone = await Promise.all(
        [ConfigMap, Pod].map((kind) =>
          api.get(kind, { name, namespace }).then(
            () => false,
            (error: unknown) => isNotFound(error),
          ),
        ),
      )
      return gone.every(Boolean)
    })
  },
)

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> }
  readonly spec?: {
    readonly selector?: Record<string, unknown>
    readonly ports?: readonly { readonly name: string; readonly port: number }[]
  }
}

test("the ServiceMonitor, the probes and the Service of the production operator's document fit our manifest", () => {
  const manifests = loadAll(readFileSync(path.join(root, 'deploy/applications.yaml'), 'utf8')) as readonly Manifest[]
  const find = (kind: string): Manifest | undefined => manifests.find((each) => each.kind === kind)
  const place = { name: 'elide-operator', namespace: 'elide-system' }
  expect(find('Service')).toMatchObject({
    // The ServiceMonitor selects this label and the port "metrics".
    metadata: { ...place, labels: { app: 'elide-operator' } },
    spec: {
      selector: { app: 'elide-operator' },
      ports: expect.arrayContaining([
        expect.objectContaining({ name: 'http', port: 80 }),
        expect.objectContaining({ name: 'metrics', port: 8080 }),
      ]),
    },
  })
  expect(find('Deployment')).toMatchObject({
    metadata: place,
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'elide-operator' } },
      template: {
        spec: {
          serviceAccountName: 'elide-operator',
          containers: [
            {
              livenessProbe: { httpGet: { path: '/healthz' } },
              readinessProbe: { httpGet: { path: '/readyz' } },
              env: expect.arrayContaining([expect.objectContaining({ name: 'POD_NAME' })]),
            },
          ],
        },
      },
    },
  })
  expect(find('ServiceAccount')).toMatchObject({ metadata: place })
})

test(
  "the LeaseControllers and the annotations of the lease operator's document work",
  { timeout: 120_000 },
  async () => {
    const floor = await InProcessFloor.enter()
    cleanups.push(() => floor.leave())
    const { api } = floor
    await floor.runOperators({ operators: [leaseOperator], webhooks: 'none', leaderElection: false })
    const examples = [
      {
        name: 'application-controller',
        spec: { group: 'startpunkt.ullberg.us', kind: 'Application', version: 'v1alpha2' },
      },
      { name: 'deployment-controller', spec: { group: '', kind: 'Deployment', version: 'v1' } },
      { name: 'pods', spec: { group: '', kind: 'Pod', version: 'v1' } },
    ]
    for (const { name, spec } of examples) {
      await floor.until(`${name} is accepted`, () =>
        api.create(LeaseController, { metadata: { name }, spec }, { fieldValidation: 'Strict' }).catch(() => undefined),
      )
    }
    const prefix = 'object-lease-controller.ullberg.us/'
    const hourAgo = new Date(floor.clock.now() - 3_600_000).toISOString().replace(/\.\d+Z/, 'Z')
    const create = (name: string, annotations: Readonly<Record<string, string>>) =>
      api.create(Pod, {
        metadata: { name, namespace: 'default', annotations },
        spec: { containers: [{ name: 'main', image: 'nginx' }] },
      })
    await create('test', { [`${prefix}ttl`]: '1h30m' })
    // The lease counts from the extension, not from the creation.
    await create('extended', { [`${prefix}ttl`]: '2h', [`${prefix}extended-at`]: hourAgo })
    await create('newer', { 'object-lease-controller.ullberg.io/ttl': '1w' })
    const annotationsOf = async (name: string) =>
      (await api.get(Pod, { name, namespace: 'default' })).metadata.annotations ?? {}
    const expiry = await floor.until(
      'the lease has an end',
      async () => (await annotationsOf('test'))[`${prefix}expire-at`],
    )
    expect(Math.round((Date.parse(expiry) - floor.clock.now()) / 60_000)).toBe(90)
    expect((await annotationsOf('test'))[`${prefix}lease-status`]).toBe(`Lease active. Expires at ${expiry} UTC.`)
    const extended = await floor.until(
      'the extended lease has an end',
      async () => (await annotationsOf('extended'))[`${prefix}expire-at`],
    )
    expect(Math.round((Date.parse(extended) - floor.clock.now()) / 60_000)).toBe(60)
    await floor.until(
      'the newer family is answered in its own names',
      async () => (await annotationsOf('newer'))['object-lease-controller.ullberg.io/lease-start'],
    )
  },
)
