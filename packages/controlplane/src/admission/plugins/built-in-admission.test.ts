import { readFileSync } from 'node:fs'

import type { KubeObject } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, test } from 'vitest'
import type { JsonObject } from '@tenure/kube/model'
import { valueAtPath } from '@tenure/kube/model'

import type { AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import { openStorage } from '../../storage/index.ts'
import type { Storage } from '../../storage/index.ts'
import { BuiltInAdmission } from './built-in-admission.ts'
import { builtInCatalog } from '../../kinds/catalog.ts'
import { CREATED } from '../../kinds/testdata/cases.ts'
import type { Body } from '../../kinds/testdata/cases.ts'

const recorded = JSON.parse(readFileSync(new URL('../../kinds/testdata/recorded.json', import.meta.url), 'utf8')) as {
  readonly created: Readonly<Record<string, { readonly object: JsonObject }>>
}
const catalog = builtInCatalog()

interface Fixture {
  readonly storage: Storage
  readonly clock: VirtualClock
  readonly admission: BuiltInAdmission
  put(bucket: string, key: string, object: JsonObject): Promise<void>
}

async function setUp(): Promise<Fixture> {
  const clock = new VirtualClock()
  const storage = await openStorage({ clock, log: silentLogger })
  return {
    storage,
    clock,
    admission: new BuiltInAdmission({ storage, clock, random: seededRandom() }),
    async put(bucket, key, object) {
      await storage.write(bucket, key, () => ({ put: object as KubeObject }))
    },
  }
}

const account = { metadata: { name: 'default', namespace: 'kinds', uid: 'a', creationTimestamp: 'x' } }

function attributesOf(body: Body, operation: 'CREATE' | 'UPDATE' = 'CREATE', old?: KubeObject): AdmissionAttributes {
  const definition = catalog.find(
    ({ group, version, kind }) =>
      (group ? `${group}/${version}` : version) === body['apiVersion'] && kind === body['kind'],
  )
  if (!definition?.schema) throw new Error('Unknown kind')
  const { object } = decodeBuiltIn(definition.schema, (ref) => definition.resolve(ref), body)
  const defaulted = definition.strategy.defaults?.(object as KubeObject) ?? (object as KubeObject)
  return {
    operation,
    definition,
    subresource: '',
    namespace: 'kinds',
    name: 'a',
    object: defaulted,
    oldObject: old,
    options: {},
    user: { name: 'admin', groups: [] },
    dryRun: false,
  }
}

const pod = (spec: Body = {}): Body => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'a', image: 'a' }], ...spec },
})

const unrandom = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-xxxxx'))

test.each(['pod', 'pod with everything people use', 'persistent volume claim', 'persistent volume'])(
  'a %s is admitted as by kube-apiserver',
  async (title) => {
    const { admission, put } = await setUp()
    await put('serviceaccounts', 'kinds/default', account)
    const body = CREATED.find((one) => one.title === title)?.object ?? {}
    const object = await admission.mutate(attributesOf(body))
    const expected = recorded.created[title]?.object
    expect(unrandom(valueAtPath(object, 'spec'))).toEqual(unrandom(valueAtPath(expected, 'spec')))
    expect(valueAtPath(object, 'metadata', 'finalizers')).toEqual(valueAtPath(expected, 'metadata', 'finalizers'))
  },
)

test('a pod without its service account is refused after the timeout', async () => {
  const { admission, clock } = await setUp()
  const refused = admission.mutate(attributesOf(pod({ serviceAccountName: 'none' }))).catch((error: unknown) => error)
  await clock.advance(1000)
  expect(await refused).toMatchObject({
    code: 403,
    message: 'pods "a" is forbidden: error looking up service account kinds/none: serviceaccount "none" not found',
  })
  expect(clock.pending).toBe(0)
})

test('creating a pod waits for the service account of a new namespace', async () => {
  const { admission, clock, put } = await setUp()
  const admitted = admission.mutate(attributesOf(pod()))
  await put('serviceaccounts', 'kinds/default', {
    ...account,
    imagePullSecrets: [{ name: 's' }],
    automountServiceAccountToken: false,
  })
  expect(valueAtPath(await admitted, 'spec')).toMatchObject({
    serviceAccountName: 'default',
    imagePullSecrets: [{ name: 's' }],
  })
  expect(valueAtPath(await admitted, 'spec', 'volumes')).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('the priority of a pod comes from its PriorityClass', async () => {
  const { admission, put } = await setUp()
  await put('serviceaccounts', 'kinds/default', account)
  const refusal = await admission
    .mutate(attributesOf(pod({ priorityClassName: 'none' })))
    .catch((error: unknown) => error)
  expect(refusal).toMatchObject({ message: 'pods "a" is forbidden: no PriorityClass with name none was found' })
  expect(
    valueAtPath(
      await admission.mutate(attributesOf(pod({ priorityClassName: 'system-node-critical' }))),
      'spec',
      'priority',
    ),
  ).toBe(2_000_001_000)
  await put('priorityclasses.scheduling.k8s.io', 'high', {
    metadata: { name: 'high', uid: 'h', creationTimestamp: 'x' },
    value: 7,
    globalDefault: true,
    preemptionPolicy: 'Never',
  })
  expect(valueAtPath(await admission.mutate(attributesOf(pod())), 'spec')).toMatchObject({
    priority: 7,
    priorityClassName: 'high',
    preemptionPolicy: 'Never',
  })
})

test('an update keeps computed fields', async () => {
  const { admission, put } = await setUp()
  await put('serviceaccounts', 'kinds/default', account)
  const old = await admission.mutate(attributesOf(pod()))
  if (!old) throw new Error('The pod was not admitted')
  const { priority: _, tolerations: __, ...spec } = valueAtPath(old, 'spec') as Record<string, unknown>
  const updated = await admission.mutate(attributesOf({ ...old, spec }, 'UPDATE', old))
  expect(valueAtPath(updated, 'spec')).toEqual(valueAtPath(old, 'spec'))
})

const named = (name: string, created: string, annotation: string): JsonObject => ({
  metadata: { name, uid: name, creationTimestamp: created, annotations: { [annotation]: 'true' } },
})

const bodyOf = (title: string): Body => CREATED.find((one) => one.title === title)?.object ?? {}

test('claims and ingresses get the newest default class', async () => {
  const { admission, put } = await setUp()
  for (const [name, created] of [
    ['old', '2026-01-01T00:00:00Z'],
    ['new', '2026-01-02T00:00:00Z'],
  ] as const) {
    await put(
      'storageclasses.storage.k8s.io',
      name,
      named(name, created, 'storageclass.kubernetes.io/is-default-class'),
    )
    await put(
      'ingressclasses.networking.k8s.io',
      name,
      named(name, created, 'ingressclass.kubernetes.io/is-default-class'),
    )
  }
  expect(
    valueAtPath(await admission.mutate(attributesOf(bodyOf('persistent volume claim'))), 'spec', 'storageClassName'),
  ).toBe('new')
  expect(valueAtPath(await admission.mutate(attributesOf(bodyOf('ingress'))), 'spec', 'ingressClassName')).toBe('new')
})

const of = (bucket: string): ResourceDefinition => {
  const found = catalog.find((one) => one.bucket === bucket)
  if (!found) throw new Error(bucket)
  return found
}

test('the plugins concern only creations and pod updates', async () => {
  const { admission } = await setUp()
  expect(admission.concerns('CREATE', of('pods'), '')).toBe(true)
  expect(admission.concerns('UPDATE', of('pods'), 'status')).toBe(false)
  expect(admission.concerns('CREATE', of('configmaps'), '')).toBe(false)
  expect(admission.concerns('DELETE', of('pods'), '')).toBe(false)
})
