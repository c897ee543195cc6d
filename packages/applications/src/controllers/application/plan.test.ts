import type { Kind, KubeObject, Stored } from '@tenure/kube'
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Job, PersistentVolumeClaim, Service } from '@tenure/kube/kinds'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ANNOTATIONS, type ApplicationSpec, type ApplicationStatus } from '../../api/index.ts'
import { childrenFor, podRevision, selectorText } from './children/index.ts'
import { jobFor } from './children/job.ts'
import { all, application, deployment, observed, plainSpec, stored } from '../../testing/objects.ts'
import type { Observed } from './observed.ts'
import { planChildren } from './plan.ts'

const labels = {
  'app.kubernetes.io/name': 'shop',
  'app.kubernetes.io/instance': 'shop',
  'app.kubernetes.io/managed-by': 'elide-operator',
}

function child<T extends KubeObject>(
  kind: Kind<T>,
  spec: Partial<ApplicationSpec> = {},
  live?: Deployment,
): T | undefined {
  const found = childrenFor('shop', { ...plainSpec, ...spec }, live).find((other) => other.kind === kind)
  // The kind of the child determines its type.
  return found?.object as T | undefined
}

const container = (spec: Partial<ApplicationSpec>): unknown =>
  child(Deployment, spec)?.spec?.template.spec?.containers[0]

const reversed = (map: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(map).toReversed())

const utilization = (name: string, averageUtilization: number): object => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
})

/** A Deployment whose replicas the operator owns. */
function withOwnReplicas(count: number): Deployment {
  const live = deployment({ replicas: count })
  const managedFields = [
    { manager: 'elide-operator', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
  ]
  return { ...live, metadata: { ...live.metadata, managedFields } }
}

const owning = (...objects: readonly (readonly [Kind, Stored<KubeObject>])[]): Observed =>
  observed({ owned: (kind) => objects.filter(([other]) => other === kind).map(([, object]) => object) })

const old = (name: string): Stored<KubeObject> => stored({ metadata: { name } })

const kindsOf = (spec: Partial<ApplicationSpec>): readonly string[] =>
  childrenFor('shop', { ...plainSpec, ...spec }).map(
    ({ kind, object }) => `${kind.kind} ${object.metadata?.name ?? ''}`,
  )

describe('a plain Application', () => {
  test('a plain Application has a Deployment only', () => {
    expect(childrenFor('shop', plainSpec)).toEqual([
      {
        kind: Deployment,
        object: {
          metadata: { name: 'shop', labels },
          spec: {
            replicas: 3,
            selector: { matchLabels: labels },
            strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
            template: {
              metadata: { labels, annotations: { [ANNOTATIONS.revision]: expect.stringMatching(/^[0-9a-f]{16}$/) } },
              spec: { containers: [{ name: 'app', image: 'nginx:latest' }] },
            },
          },
        },
      },
    ])
  })

  test('the selector of the pods is valid as text', () => {
    expect(selectorText('shop')).toBe(
      'app.kubernetes.io/instance=shop,app.kubernetes.io/managed-by=elide-operator,app.kubernetes.io/name=shop',
    )
  })

  test('the strategy Recreate has no rolling update', () => {
    expect(child(Deployment, { strategy: 'Recreate' })?.spec?.strategy).toEqual({ type: 'Recreate' })
  })
})

const metrics = (autoscaling: object): unknown =>
  child(HorizontalPodAutoscaler, { autoscaling: { maxReplicas: 5, ...autoscaling } })?.spec?.metrics

describe('optional children', () => {
  test('each optional field creates its child, in order of dependency', () => {
    expect(
      kindsOf({
        config: { A: '1' },
        persistence: { size: '1Gi', mountPath: '/data' },
        ports: [{ port: 80 }],
        autoscaling: { maxReplicas: 5 },
        ingress: { host: 'shop.example.com' },
      }),
    ).toEqual([
      'ConfigMap shop-config',
      'PersistentVolumeClaim shop-data',
      'Service shop',
      'Deployment shop',
      'HorizontalPodAutoscaler shop',
      'Ingress shop',
    ])
  })

  test('an empty field counts as missing', () => {
    const empty = { config: {}, ports: [], env: [], resources: { limits: {} }, podAnnotations: {} }
    expect(childrenFor('shop', { ...plainSpec, ...empty })).toEqual(childrenFor('shop', plainSpec))
  })

  test('the configuration becomes environment variables, and its change rolls the pods', () => {
    expect(container({ config: { A: '1' } })).toMatchObject({ envFrom: [{ configMapRef: { name: 'shop-config' } }] })
    expect(child(ConfigMap, { config: { A: '1' } })).toMatchObject({ data: { A: '1' } })
    const revisions = [{}, { A: '1' }, { A: '2' }, { B: '1' }].map((config) =>
      podRevision('shop', { ...plainSpec, config }),
    )
    expect(new Set(revisions).size).toBe(4)
    const [one, other] = [
      { A: '1', B: '2' },
      { B: '2', A: '1' },
    ].map((config) => podRevision('shop', { ...plainSpec, config }))
    expect(one).toBe(other)
  })

  test('a change of replicas, Service ports or autoscaling does not roll the pods', () => {
    const revision = podRevision('shop', plainSpec)
    expect(podRevision('shop', { ...plainSpec, replicas: 9 })).toBe(revision)
    expect(podRevision('shop', { ...plainSpec, strategy: 'Recreate' })).toBe(revision)
    expect(podRevision('shop', { ...plainSpec, autoscaling: { maxReplicas: 9 } })).toBe(revision)
  })

  test('the container has every field of the spec', () => {
    const probe = { httpGet: { port: 'http' } }
    const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]
    expect(
      container({
        command: ['run'],
        args: ['-v'],
        env,
        resources: { requests: { cpu: 1 }, limits: { memory: '1Gi' } },
        ports: [
          { port: 80, targetPort: 8080, name: 'http' },
          { port: 81, targetPort: 8080 },
          { port: 53, protocol: 'UDP' },
        ],
        probes: { liveness: probe, readiness: probe, startup: probe },
        persistence: { size: 1, mountPath: '/data' },
      }),
    ).toEqual({
      name: 'app',
      image: 'nginx:latest',
      command: ['run'],
      args: ['-v'],
      env,
      resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
      ports: [
        { containerPort: 8080, protocol: 'TCP', name: 'http' },
        { containerPort: 53, protocol: 'UDP' },
      ],
      livenessProbe: probe,
      readinessProbe: probe,
      startupProbe: probe,
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    })
  })

  test('ports without a name get a unique name', () => {
    expect(child(Service, { ports: [{ port: 53 }, { port: 53, protocol: 'UDP', targetPort: 5353 }] })).toMatchObject({
      spec: {
        selector: labels,
        ports: [
          { name: 'tcp-53', port: 53, targetPort: 53, protocol: 'TCP' },
          { name: 'udp-53', port: 53, targetPort: 5353, protocol: 'UDP' },
        ],
      },
    })
  })

  test('an Ingress routes to the first port, with TLS if it names a Secret', () => {
    const ingress = { host: 'a.example.com', path: '/x', className: 'nginx', tlsSecretName: 'cert' }
    expect(childrenFor('shop', { ...plainSpec, ports: [{ port: 8080 }], ingress }).at(-1)?.object).toMatchObject({
      spec: {
        ingressClassName: 'nginx',
        rules: [{ host: 'a.example.com', http: { paths: [{ path: '/x', pathType: 'Prefix' }] } }],
        tls: [{ hosts: ['a.example.com'], secretName: 'cert' }],
      },
    })
    expect(kindsOf({ ingress })).toEqual(['Deployment shop'])
  })

  test('an autoscaler without a target uses 80 % of the CPU', () => {
    expect(metrics({})).toEqual([utilization('cpu', 80)])
    expect(metrics({ targetMemoryUtilizationPercentage: 70 })).toEqual([utilization('memory', 70)])
    expect(metrics({ targetCPUUtilizationPercentage: 50, targetMemoryUtilizationPercentage: 70 })).toEqual([
      utilization('cpu', 50),
      utilization('memory', 70),
    ])
  })
})

describe('replicas under an autoscaler', () => {
  const autoscaling = { minReplicas: 2, maxReplicas: 5 }
  const replicas = (spec: Partial<ApplicationSpec>, live?: Deployment): number | undefined =>
    child(Deployment, { autoscaling, ...spec }, live)?.spec?.replicas

  test('initial replicas are within the bounds of the autoscaler', () => {
    expect([0, 3, 9].map((count) => replicas({ replicas: count }))).toEqual([2, 3, 5])
  })

  test('replicas that the operator still owns are repeated, so that they are not reset', () => {
    expect(replicas({ replicas: 3 }, withOwnReplicas(4))).toBe(4)
  })

  test('replicas are left out once the autoscaler has changed them', () => {
    expect(replicas({ replicas: 3 }, deployment({ replicas: 4 }))).toBeUndefined()
  })

  test('replicas are applied again without an autoscaler', () => {
    expect(child(Deployment, { replicas: 3 }, deployment({ replicas: 4 }))?.spec?.replicas).toBe(3)
  })
})

describe('a child that is no longer described', () => {
  test('it is removed after the applies, if it is unchanged', () => {
    const actions = planChildren(application(), owning([ConfigMap, old('shop-config')], [Service, old('shop')]))
    expect(actions[0]).toMatchObject({ type: 'apply', kind: Deployment })
    expect(actions.slice(1)).toEqual([
      {
        type: 'remove',
        kind: ConfigMap,
        ref: { name: 'shop-config', namespace: 'default' },
        uid: 'uid-of-shop-config',
        resourceVersion: '1',
        propagation: 'Background',
      },
      expect.objectContaining({ type: 'remove', kind: Service, uid: 'uid-of-shop' }),
    ])
  })

  test('an autoscaler is removed before the applies', () => {
    const actions = planChildren(application(), owning([HorizontalPodAutoscaler, old('shop')]))
    expect(actions).toMatchObject([
      { type: 'remove', kind: HorizontalPodAutoscaler },
      { type: 'apply', kind: Deployment },
    ])
  })

  test('a ConfigMap stays while pods need it', () => {
    const config = old('shop-config')
    const types = (live: Stored<Deployment>): readonly string[] => {
      const owned: Observed['owned'] = (kind) => (kind === ConfigMap ? [config] : kind === Deployment ? [live] : [])
      return planChildren(application(), observed({ deployment: live, owned })).map(({ type }) => type)
    }
    const rolled = all(3)
    expect(types(deployment({ config: { A: '1' } }, rolled))).toEqual(['apply'])
    expect(types(deployment({}, { ...rolled, updatedReplicas: 2 }))).toEqual(['apply'])
    expect(types(deployment({}, { ...rolled, observedGeneration: 0 }))).toEqual(['apply'])
    expect(types(deployment({}, rolled))).toEqual(['apply', 'remove'])
  })

  test('a volume claim stays', () => {
    const actions = planChildren(application(), owning([PersistentVolumeClaim, old('shop-data')]))
    expect(actions.map(({ type }) => type)).toEqual(['apply'])
  })

  test('described children stay', () => {
    const actions = planChildren(
      application({ ports: [{ port: 80 }] }),
      owning([Service, old('shop')], [Deployment, old('shop')]),
    )
    expect(actions.map(({ type }) => type)).toEqual(['apply', 'apply'])
  })
})

describe('a run Once', () => {
  const once = { run: 'Once', replicas: 2 } as const

  test('a run Once has a Job instead of a Deployment', () => {
    expect(kindsOf(once)).toEqual(['Job shop'])
    expect(child(Job, once)).toMatchObject({
      spec: { parallelism: 2, completions: 2, template: { spec: { restartPolicy: 'Never' } } },
    })
    const actions = planChildren(
      application(once),
      observed({ deployment: deployment(), owned: (kind) => (kind === Deployment ? [deployment()] : []) }),
    )
    expect(actions).toMatchObject([
      { type: 'apply', kind: Job },
      { type: 'remove', kind: Deployment },
    ])
  })

  test('a changed run starts again after the old Job is deleted', () => {
    const job = stored(jobFor('shop', { ...plainSpec, ...once }))
    const there = observed({ job, owned: (kind) => (kind === Job ? [job] : []) })
    expect(planChildren(application(once), there)).toMatchObject([{ type: 'apply', kind: Job }])
    for (const change of [{ replicas: 3 }, { image: 'other' }, { config: { A: '1' } }]) {
      const actions = planChildren(application({ ...once, ...change }), there)
      expect(actions.at(-1)).toMatchObject({ type: 'remove', kind: Job, uid: job.metadata.uid })
      expect(actions.filter((action) => action.type === 'apply' && action.kind === Job)).toEqual([])
    }
  })
})

describe('a finished run', () => {
  const once = { run: 'Once', replicas: 2 } as const
  const succeeded = { phase: 'Succeeded', observedGeneration: 1 } as const
  const complete = { conditions: [{ type: 'Complete', status: 'True' }] }
  const jobs = (job: Stored<Job> | undefined, generation = 1, status: ApplicationStatus = succeeded) =>
    planChildren(
      application(once, status, generation),
      observed({ job, owned: (kind) => (kind === Job && job ? [job] : []) }),
    ).map(({ type }) => type)
  const job = stored({ ...jobFor('shop', { ...plainSpec, ...once }), status: complete })

  test('a finished run does not start again, whatever the state of its Job', () => {
    const other = stored({
      ...jobFor('shop', { ...plainSpec, ...once, image: 'as of another operator' }),
      status: complete,
    })
    const going = { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect([undefined, job, other, going].map((live) => jobs(live))).toEqual([[], [], [], []])
  })

  test('a changed or unfinished run starts again', () => {
    expect(jobs(undefined, 2)).toEqual(['apply'])
    expect(jobs(undefined, 1, { ...succeeded, phase: 'Failed' })).toEqual(['apply'])
    expect(jobs({ ...job, status: { active: 1 } })).toEqual(['apply'])
  })
})

test('a plan does not depend on the order of keys', () => {
  const spec = fc.record({
    config: fc.dictionary(fc.string(), fc.string()),
    podAnnotations: fc.dictionary(fc.string(), fc.string()),
  })
  fc.assert(
    fc.property(spec, ({ config, podAnnotations }) => {
      const one = { ...plainSpec, config, podAnnotations }
      const other = { podAnnotations: reversed(podAnnotations), config: reversed(config), ...plainSpec }
      expect(podRevision('shop', other)).toBe(podRevision('shop', one))
    }),
  )
})
