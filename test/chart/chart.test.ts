/** Renders the chart with our own engine for every switch. */
import { clusterRules, namespaceRules, workloadRules } from '@tenure/applications'
import { claimRules } from '@tenure/claims'
import { startControlPlane } from '@tenure/controlplane'
import { databasesRbac } from '@tenure/databases'
import { Client, type KubeObject, systemClock } from '@tenure/kube'
import { ConfigMap, CustomResourceDefinition, Namespace } from '@tenure/kube/kinds'
import { leaseAdmissionRules, leaseOperatorRules } from '@tenure/leases'
import { Discovery, type PolicyRule } from '@tenure/runtime'
import { defineConfiguration, readConfiguration } from '@tenure/runtime/configuration'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { operators } from '../../packages/tenure/src/loaded-operators.ts'
import { valuesCheck } from '../../packages/claims/src/template/source/values-schema.ts'
import { filling } from '../../scripts/manifests/chart/operators.ts'
import { permissionsOf } from '../../scripts/manifests/chart/rules.ts'
import { restrictedContainer, restrictedPod } from '../../packages/tenure/src/manifests/restricted.ts'
import { dryRun, monitoringDefinitions } from './dry-run.ts'
import { defaultChartValues, merged, read, renderObjects, renderTexts, type Values } from './render.ts'
import { only, switches } from './switches.ts'

type Rendered = Readonly<Record<string, unknown>>

let plane: Awaited<ReturnType<typeof startControlPlane>>
let api: Client
let discovery: Discovery

beforeAll(async () => {
  plane = await startControlPlane({ port: false, controllers: false })
  api = new Client({ transport: plane.transport })
  discovery = new Discovery(api.requester, systemClock)
  await api.create(Namespace, { metadata: { name: 'tenure-system' } })
  for (const definition of monitoringDefinitions) await api.create(CustomResourceDefinition, definition)
})

afterAll(() => plane.stop())

const byName = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ kind, metadata }) => [kind, metadata?.namespace, metadata?.name].join(' '))

const find = (objects: readonly KubeObject[], kind: string, name?: string): Rendered | undefined =>
  objects.find((object) => object.kind === kind && (name === undefined || object.metadata?.name === name)) as
    | Rendered
    | undefined

/** One entry per permission: two rules may grant the same. */
const flat = (given: readonly PolicyRule[] | undefined): readonly string[] =>
  [...new Set((given ?? []).flatMap(permissionsOf))].toSorted()

/** The annotations of the pods of claims with a pool of this size. */
const annotationsOf = (count: number) =>
  workloadOf(renderObjects(only('claims', { settings: { pools: { a: { count } } } }))).metadata.annotations

const monitoringKinds = (apiVersions: readonly string[]) =>
  new Set(
    renderObjects({}, { apiVersions })
      .map(({ kind }) => kind)
      .filter((kind) => /Monitor|Prometheus/.test(kind ?? '')),
  )

/** The kind and name of each webhook configuration, and whether it has webhooks. */
const configurationsOf = (values: Values) =>
  renderObjects(values)
    .filter(({ kind }) => kind?.endsWith('WebhookConfiguration'))
    .map((object) => [object.kind, object.metadata?.name, 'webhooks' in object])

const notesOf = (values: Values): string => renderTexts(values, { release: 'prod' }).get('templates/NOTES.txt') ?? ''

/** The ports that settings listen on. */
const portsOf = (settings: Readonly<Record<string, unknown>>): readonly number[] =>
  Object.entries(settings).flatMap(([key, value]) => {
    const isPort = /^(port|.*Port|.*Addr|.*BindAddress)$/.test(key) && !/^db|dashboard/.test(key)
    if (!isPort || (typeof value !== 'string' && typeof value !== 'number')) return []
    return [Number(`${value}`.split(':').at(-1))]
  })

const ascending = (numbers: readonly number[]): readonly number[] => numbers.toSorted((a, b) => a - b)

const rulesOf = (values: Values, kind: string, name: string): readonly string[] => {
  const rules = find(renderObjects(values), kind, name)?.['rules'] as readonly PolicyRule[] | undefined
  return flat(rules)
}
describe('every switch', () => {
  const validate = valuesCheck(read('values.schema.json'), 'values.schema.json')

  test.each(switches)('$title: the values fit the schema, and the objects are valid', async (given) => {
    const values = JSON.parse(JSON.stringify(merged(defaultChartValues(), given.values))) as Parameters<
      typeof validate
    >[0]
    expect(validate(values)).toBeUndefined()
    const objects = renderObjects(given.values, given)
    expect(new Set(byName(objects)).size).toBe(objects.length)
    await dryRun(api, discovery, objects)
  })
})

describe('the roles', () => {
  const choices = [true, false]
  const applicationsChoices = choices.flatMap((oneNamespace) =>
    choices.flatMap((installDefinitions) =>
      choices.flatMap((createNamespaces) =>
        choices.flatMap((tokens) =>
          choices.map((webhooks) => ({ oneNamespace, installDefinitions, createNamespaces, tokens, webhooks })),
        ),
      ),
    ),
  )

  test.each(applicationsChoices)('applications with %j have the rules of the code', (options) => {
    const values = {
      crds: { installedBy: options.installDefinitions ? 'operator' : 'chart' },
      ...only('applications', {
        settings: {
          namespace: options.oneNamespace ? 'team-a' : null,
          createNamespaces: options.createNamespaces,
          auth: options.tokens ? 'auto' : 'none',
          webhooks: options.webhooks,
        },
      }),
    }
    const name = 'tenure-applications'
    expect(rulesOf(values, 'ClusterRole', name)).toEqual(flat(filling(clusterRules(options))))
    expect(rulesOf(values, 'Role', name)).toEqual(flat(filling(namespaceRules(options))))
    expect(rulesOf(values, 'Role', `${name}-watched`)).toEqual(options.oneNamespace ? flat(workloadRules()) : [])
  })

  const leaseChoices = choices.flatMap((installDefinitions) =>
    choices.flatMap((createDefaults) =>
      choices.flatMap((dedicated) =>
        choices.flatMap((admission) =>
          [[], [{ group: 'apps', plural: 'deployments' }]].map((shared) => ({
            options: { installDefinitions, createDefaults, dedicated, shared },
            admission,
          })),
        ),
      ),
    ),
  )

  test.each(leaseChoices)('LeaseControllers with %j have the rules of the code', ({ options, admission }) => {
    const values = {
      crds: { installedBy: options.installDefinitions ? 'operator' : 'none' },
      ...only('leaseControllers', {
        settings: {
          createDefaultLeaseControllers: options.createDefaults,
          leaseControllerMode: options.dedicated ? 'dedicated' : 'shared',
          leaseAdmission: admission,
        },
        sharedKinds: options.shared,
      }),
    }
    const name = 'tenure-lease-controllers'
    const { cluster, home } = admission ? leaseAdmissionRules : { cluster: [], home: [] }
    expect(rulesOf(values, 'ClusterRole', name)).toEqual(flat([...leaseOperatorRules(options), ...filling(cluster)]))
    expect(rulesOf(values, 'Role', name)).toEqual(flat(filling(home)))
  })

  test.each([true, false])('claims with Secrets %j have the rules of the code', (secrets) => {
    const values = only('claims', { rbac: { secrets } })
    expect(rulesOf(values, 'Role', 'tenure-claims-watched')).toEqual(
      flat([
        ...filling(claimRules()),
        ...claimRules({ secrets }).filter(({ resources }) => resources?.includes('secrets')),
      ]),
    )
    expect(rulesOf(values, 'ClusterRole', 'tenure-claims')).toEqual([
      'create authentication.k8s.io tokenreviews ',
      'create authorization.k8s.io subjectaccessreviews ',
    ])
  })

  test('claims in another namespace have their role and their election there', () => {
    const objects = renderObjects(only('claims', { settings: { namespace: 'previews', auth: 'none' } }))
    expect(objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')).toMatchObject([
      { metadata: { name: 'tenure-claims-watched', namespace: 'previews' } },
    ])
    expect(environmentOf(objects)).toMatchObject({ NAMESPACE: 'previews', LEADER_ELECTION_NAMESPACE: 'previews' })
  })

  test('databases have the rules of the code', () => {
    const values = only('databases', { database: { host: 'a' } })
    expect(rulesOf(values, 'ClusterRole', 'tenure-databases')).toEqual(flat(databasesRbac.cluster))
    expect(rulesOf(values, 'Role', 'tenure-databases')).toEqual(flat(filling(databasesRbac.namespace ?? [])))
  })

  test('every binding names a role of the chart and the account of its Deployment', () => {
    const objects = renderObjects({ databases: { enabled: true, database: { host: 'a' } } })
    const names = byName(objects)
    const accounts = objects
      .filter(({ kind }) => kind === 'Deployment')
      .map((deployment) => workloadOf([deployment]).spec.serviceAccountName)
    const bindings = objects.filter(isBinding)
    expect(bindings.length).toBeGreaterThan(6)
    for (const { metadata, roleRef, subjects } of bindings) {
      expect(names).toContain([roleRef.kind, metadata?.namespace, roleRef.name].join(' '))
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: expect.any(String), namespace: 'tenure-system' }])
      expect(accounts).toContain(subjects[0]?.name)
    }
  })
})

interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects: readonly { readonly name: string }[]
}

const isBinding = (object: KubeObject): object is Binding => object.kind?.endsWith('Binding') ?? false

interface Workload {
  readonly template: {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
    readonly spec: {
      readonly serviceAccountName: string
      readonly securityContext: object
      readonly containers: readonly [
        {
          readonly args: readonly [string]
          readonly securityContext: object
          readonly env: readonly { readonly name: string; readonly value?: string }[]
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
          readonly readinessProbe: { readonly httpGet: { readonly port: string; readonly path: string } }
          readonly volumeMounts?: readonly object[]
        },
      ]
    }
  }
}

function workloadOf(objects: readonly KubeObject[]): Workload['template'] {
  const deployment = find(objects, 'Deployment') as { readonly spec: Workload } | undefined
  if (!deployment) throw new Error('There is no Deployment')
  return deployment.spec.template
}

/** The environment of the only Deployment. */
function environmentOf(objects: readonly KubeObject[]): Readonly<Record<string, string>> {
  const [{ env }] = workloadOf(objects).spec.containers
  return Object.fromEntries(env.map(({ name, value = 'from elsewhere' }) => [name, value]))
}

describe('the pods', () => {
  test.each(switches.filter(({ title }) => title.startsWith('only')))(
    '$title: the operator reads every variable, and listens on the ports of the pod',
    async ({ values }) => {
      const objects = renderObjects(values)
      const environment = environmentOf(objects)
      const { spec } = workloadOf(objects)
      const [{ args, ports, readinessProbe, securityContext }] = spec.containers
      const operator = operators.find(({ name }) => name === args[0])
      if (!operator) throw new Error(`There is no operator ${args[0]}`)
      const configuration = defineConfiguration({ program: '', summary: '', options: operator.config })
      const known = configuration.rows.map((row) => row.environment)
      expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([])
      const loaded = await readConfiguration(configuration, { argv: [], environment })
      expect(loaded.kind).toBe('values')
      const settings = loaded.kind === 'values' ? loaded.values : {}
      const webhooks = settings['webhooks'] === undefined ? settings['leaseAdmission'] === true : true
      const expected = portsOf(settings).filter((port) => port !== 9443 || webhooks)
      expect(ascending(ports.map(({ containerPort }) => containerPort))).toEqual(ascending(expected))
      expect(ports.map(({ name }) => name)).toContain(readinessProbe.httpGet.port)
      expect([spec.securityContext, securityContext]).toEqual([restrictedPod, restrictedContainer])
    },
  )

  test('settings become variables with the types of the values', () => {
    const objects = renderObjects(
      only('applications', {
        settings: { concurrency: 1_000, imagePolicyOnRest: true, allowedRegistries: ['a', 'b'], namespace: null },
      }),
    )
    expect(environmentOf(objects)).toMatchObject({
      CONCURRENCY: '1000',
      IMAGE_POLICY_ON_REST: 'true',
      ALLOWED_REGISTRIES: 'a,b',
    })
    expect(environmentOf(objects)).not.toHaveProperty('WATCH_NAMESPACE')
  })

  test('an unknown setting is rejected by the schema, and by the templates if the schema is skipped', () => {
    const values = { claims: { settings: { defaultTTL: '5m' } } }
    const validate = valuesCheck(read('values.schema.json'), 'values.schema.json')
    expect(validate(values)).toBe('values.claims.settings must NOT have additional properties')
    expect(validate({ claims: { settings: { defaultTtl: 'soon' } } })).toContain('must match pattern')
    expect(() => renderObjects(values)).toThrow('claims.settings.defaultTTL is not a setting of this operator')
  })

  test('a change of the pools replaces the pods, which read them only at their start', () => {
    expect(annotationsOf(1)).not.toEqual(annotationsOf(2))
    const objects = renderObjects(only('claims', { settings: { pools: { a: { count: 1 } } } }))
    expect(find(objects, 'ConfigMap')).toMatchObject({ data: { 'config.json': '{"pools":{"a":{"count":1}}}' } })
    expect(environmentOf(objects)).toMatchObject({ CONFIG_PATH: '/etc/claim-controller/config.json' })
  })

  test('databases need a server', () => {
    expect(() => renderObjects(only('databases'))).toThrow('databases.database.host is required')
  })
})

describe('the definitions', () => {
  test('they are those of the code, kept on uninstall unless the values say otherwise', async () => {
    const definitions = renderObjects().filter(({ kind }) => kind === 'CustomResourceDefinition')
    const code = operators.flatMap(({ crds }) => crds)
    expect(definitions).toHaveLength(code.length)
    for (const definition of code) {
      const rendered = definitions.find(({ metadata }) => metadata?.name === definition.metadata?.name)
      expect(rendered).toMatchObject(JSON.parse(JSON.stringify(definition)) as object)
      expect(rendered?.metadata?.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' })
    }
    const removed = renderObjects({ crds: { keep: false } })
    expect(find(removed, 'CustomResourceDefinition')?.['metadata']).not.toHaveProperty([
      'annotations',
      'helm.sh/resource-policy',
    ])
  })
})

describe('what belongs to other kinds', () => {
  test('monitors exist only in a cluster that has their kinds', () => {
    expect(monitoringKinds([])).toEqual(new Set())
    expect(monitoringKinds(['monitoring.coreos.com/v1/PodMonitor'])).toEqual(new Set(['PodMonitor']))
    expect(monitoringKinds(['monitoring.coreos.com/v1/ServiceMonitor'])).toEqual(new Set(['ServiceMonitor']))
  })

  test('the webhook configurations are empty, with the names that the operators fill', () => {
    expect(configurationsOf({ leaseControllers: { settings: { leaseAdmission: true } } })).toEqual([
      ['ValidatingWebhookConfiguration', 'elide-operator', false],
      ['MutatingWebhookConfiguration', 'elide-operator', false],
      ['ValidatingWebhookConfiguration', 'object-lease-operator', false],
    ])
    expect(configurationsOf({ applications: { settings: { webhooks: false } } })).toEqual([])
  })

  test('every Lease and Secret that an operator keeps is part of the release, without content', () => {
    const values = {
      leaseControllers: { settings: { leaseAdmission: true } },
      databases: { enabled: true, database: { host: 'a' } },
    }
    const kept = renderObjects(values).filter(({ kind }) => kind === 'Lease' || kind === 'Secret')
    expect(byName(kept)).toEqual([
      'Lease tenure-system elide-operator-leader',
      'Secret tenure-system elide-operator-webhook',
      'Lease tenure-system claim-controller-leader',
      'Lease tenure-system nest-controller-leader',
      'Lease tenure-system object-lease-operator-leader',
      'Secret tenure-system object-lease-operator-webhook',
    ])
    for (const object of kept) expect(Object.keys(object).toSorted()).toEqual(['apiVersion', 'kind', 'metadata'])
    const elsewhere = renderObjects(only('claims', { settings: { namespace: 'previews' } }))
    expect(find(elsewhere, 'Lease')).toMatchObject({ metadata: { namespace: 'previews' } })
  })

  test('the test asks every operator that is on', () => {
    const job = find(renderObjects(only('leaseControllers')), 'Job') as { readonly spec: Workload }
    expect(job).toMatchObject({ metadata: { annotations: { 'helm.sh/hook': 'test' } } })
    expect(job.spec.template.spec.containers[0].args.slice(1)).toEqual(['http://tenure-lease-controllers:8081/readyz'])
  })

  test('the notes name the objects of the release', () => {
    expect(notesOf({})).toContain('port-forward service/prod-tenure-claims 8080:8080')
    expect(notesOf({})).toContain('Databases are off')
    expect(notesOf({ claims: { settings: { auth: 'none' } } })).toContain('Every client that reaches this Service')
    expect(notesOf({ leaseControllers: { settings: { leaseControllerMode: 'shared' } } })).toContain('WARNING')
  })

  test('objects of the user are templates', () => {
    const extra = switches.find(({ title }) => title === 'objects of the user')
    const names = renderObjects(extra?.values).filter(({ kind }) => kind === ConfigMap.kind)
    expect(names.map(({ metadata }) => metadata?.name)).toEqual(['tenure-extra', 'tenure-system-text'])
  })
})

test('the chart has the version of the command', () => {
  const { version, appVersion } = load(read('Chart.yaml')) as { version: string; appVersion: string }
  const manifest = load(read('../../packages/tenure/package.json')) as { version: string }
  expect([version, appVersion]).toEqual([manifest.version, manifest.version])
})
