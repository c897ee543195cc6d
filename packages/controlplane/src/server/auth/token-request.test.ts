import { Client, type KubeObject } from '@tenure/kube'
import { CustomResourceDefinition, Node, Pod, Secret, ServiceAccount } from '@tenure/kube/kinds'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'

const clock = new VirtualClock()
let plane: ControlPlane
let api: Client

beforeEach(async () => {
  plane = await startControlPlane({ port: false, controllers: false, clock })
  api = new Client({ transport: plane.transport, clock })
  await api.create(ServiceAccount, { metadata: { name: 'bob', namespace: 'default' } })
})
afterEach(() => plane.stop())

interface Answered {
  readonly code?: number
  readonly message?: string
  readonly status?: { readonly token?: string; readonly authenticated?: boolean; readonly user?: object }
}

async function post(path: string, body: object, user?: ControlPlane['transport']): Promise<Answered> {
  const response = await (user ?? plane.transport).request({ method: 'POST', path, body: JSON.stringify(body) })
  return JSON.parse(await response.body.text()) as Answered
}

const order = (body: object): Promise<Answered> => post('/api/v1/namespaces/default/serviceaccounts/bob/token', body)
const orderBound = (kind: string, name: string, more: object = {}): Promise<Answered> =>
  order({ spec: { boundObjectRef: { apiVersion: 'v1', kind, name, ...more } } })

/** The status of a review of the token. */
async function review({ status }: Answered): Promise<NonNullable<Answered['status']>> {
  const answer = await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: status?.token } })
  return answer.status ?? {}
}

const pod = (serviceAccountName = 'bob') =>
  ({
    metadata: { name: 'p', namespace: 'default' },
    spec: { serviceAccountName, containers: [{ name: 'c', image: 'i' }] },
  }) as const

describe('a token that is bound to an object', () => {
  test('it is issued only for an object that exists, with the uid that is named', async () => {
    for (const kind of ['Pod', 'Secret', 'Node']) {
      const plural = `${kind.toLowerCase()}s`
      expect(await orderBound(kind, 'p')).toMatchObject({ code: 404, message: `${plural} "p" not found` })
    }
    expect(await orderBound('ConfigMap', 'p')).toMatchObject({
      code: 400,
      message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
    })
    await api.create(Secret, { metadata: { name: 's', namespace: 'default' } })
    expect(await orderBound('Secret', 's', { uid: 'x' })).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    })
  })

  test('it is issued only to the service account of its pod', async () => {
    await api.create(ServiceAccount, { metadata: { name: 'eve', namespace: 'default' } })
    await api.create(Pod, pod('eve'))
    expect(await orderBound('Pod', 'p')).toMatchObject({
      code: 400,
      message: 'cannot bind token for serviceaccount "bob" to pod running with different serviceaccount name.',
    })
  })

  test('the token of a pod names it, and ends with it', async () => {
    const { metadata } = await api.create(Pod, pod())
    const bound = await orderBound('Pod', 'p', { uid: metadata.uid })
    expect(await review(bound)).toMatchObject({
      authenticated: true,
      user: {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': [metadata.uid],
        },
      },
    })
    await api.delete(Pod, metadata, { gracePeriodSeconds: 0 })
    expect(await review(bound)).not.toHaveProperty('authenticated')
    // A pod of the same name is another pod.
    await api.create(Pod, pod())
    expect(await review(bound)).not.toHaveProperty('authenticated')
  })

  test('the token of a secret or a node ends with it', async () => {
    await api.create(Secret, { metadata: { name: 's', namespace: 'default' } })
    await api.create(Node, { metadata: { name: 'n' } })
    const [ofSecret, ofNode] = [await orderBound('Secret', 's'), await orderBound('Node', 'n')]
    expect(await review(ofSecret)).toMatchObject({ authenticated: true })
    expect(await review(ofNode)).toMatchObject({ authenticated: true })
    await api.delete(Secret, { name: 's', namespace: 'default' })
    await api.delete(Node, { name: 'n' })
    expect(await review(ofSecret)).not.toHaveProperty('authenticated')
    expect(await review(ofNode)).not.toHaveProperty('authenticated')
  })

  test('the token of an object that a finalizer holds ends a minute after the deletion', async () => {
    const metadata = { name: 's', namespace: 'default', finalizers: ['example.dev/hold'] }
    await api.create(Secret, { metadata })
    const bound = await orderBound('Secret', 's')
    await api.delete(Secret, metadata)
    expect(await review(bound)).toMatchObject({ authenticated: true })
    await clock.advance(62_000)
    expect(await review(bound)).not.toHaveProperty('authenticated')
  })
})

test('the metadata of a token request must match the service account', async () => {
  expect(await order({ metadata: { name: 'eve' }, spec: {} })).toMatchObject({ code: 422 })
  expect(await order({ metadata: { namespace: 'other' }, spec: {} })).toMatchObject({ code: 400 })
  expect(await order({ metadata: { uid: 'x' }, spec: {} })).toMatchObject({ code: 409 })
})

test('a custom resource whose name looks like a review of oneself needs permission', async () => {
  const names = { plural: 'selfsubjectthings', singular: 'selfsubjectthing', kind: 'SelfSubjectThing' }
  const schema = { openAPIV3Schema: { type: 'object' } } as const
  await api.create(CustomResourceDefinition, {
    metadata: { name: 'selfsubjectthings.example.dev' },
    spec: {
      group: 'example.dev',
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  const object = { apiVersion: 'example.dev/v1', kind: names.kind, metadata: { name: 'a' } } as KubeObject
  const path = '/apis/example.dev/v1/selfsubjectthings'
  await expect.poll(async () => (await plane.transport.request({ method: 'GET', path })).status).toBe(200)
  const user = plane.transportFor({ user: { name: 'jane', groups: ['system:authenticated'] } })
  expect(await post(path, object, user)).toMatchObject({ code: 403 })
  // Every user may review itself.
  expect(await post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, user)).toMatchObject({
    status: { userInfo: { username: 'jane' } },
  })
})
