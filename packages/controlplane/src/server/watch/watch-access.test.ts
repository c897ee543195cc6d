import { Client } from '@tenure/kube'
import type { ResponseBody, Transport } from '@tenure/kube'
import { Role, RoleBinding, ServiceAccount } from '@tenure/kube/kinds'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'

const WATCH = '/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=3600'
const MINUTE_MS = 60_000

let clock: VirtualClock
let plane: ControlPlane
let api: Client
const inNamespace = (name: string) => ({ name, namespace: 'default' })

beforeEach(async () => {
  clock = new VirtualClock()
  plane = await startControlPlane({ port: false, controllers: false, clock })
  api = new Client({ transport: plane.transport, clock })
  await api.create(ServiceAccount, { metadata: inNamespace('reader') })
  await api.create(Role, {
    metadata: inNamespace('reader'),
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['watch'] }],
  })
  await api.create(RoleBinding, {
    metadata: inNamespace('reader'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', ...inNamespace('reader') }],
  })
})

afterEach(() => plane.stop())

async function tokenFor(expirationSeconds: number): Promise<string> {
  const path = '/api/v1/namespaces/default/serviceaccounts/reader/token'
  const body = JSON.stringify({ spec: { expirationSeconds } })
  const response = await plane.transport.request({ method: 'POST', path, body })
  return (JSON.parse(await response.body.text()) as { status: { token: string } }).status.token
}

/** Watches as the account. In process the user is given; over HTTPS it is that of the token. */
async function watch(expirationSeconds = 86_400, headers: Readonly<Record<string, string>> = {}): Promise<Watching> {
  const { metadata } = await api.get(ServiceAccount, inNamespace('reader'))
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']
  const name = 'system:serviceaccount:default:reader'
  const transport: Transport = plane.transportFor({ user: { name, uid: metadata.uid, groups } })
  const authorization = `Bearer ${await tokenFor(expirationSeconds)}`
  const { status, body } = await transport.request({
    method: 'GET',
    path: WATCH,
    headers: { authorization, ...headers },
  })
  expect(status).toBe(200)
  const watching = { body, isOver: false }
  void body.text().then(() => (watching.isOver = true))
  return watching
}

interface Watching {
  readonly body: ResponseBody
  isOver: boolean
}

test('a watch goes on while its user has access', async () => {
  const before = clock.pending
  const watching = await watch()
  await clock.advance(10 * MINUTE_MS)
  expect(watching.isOver).toBe(false)
  watching.body.cancel()
  // The check stops with the last watch.
  expect(clock.pending).toBe(before)
})

test('a watch ends within a minute after its account is deleted', async () => {
  const watching = await watch()
  await api.delete(ServiceAccount, inNamespace('reader'))
  await clock.advance(MINUTE_MS)
  expect(watching.isOver).toBe(true)
})

test('a watch ends within a minute after its account is replaced by one of the same name', async () => {
  const watching = await watch()
  await api.delete(ServiceAccount, inNamespace('reader'))
  await api.create(ServiceAccount, { metadata: inNamespace('reader') })
  await clock.advance(MINUTE_MS)
  expect(watching.isOver).toBe(true)
})

test('a watch ends within a minute after its token has expired', async () => {
  const watching = await watch(600)
  await clock.advance(600_000 - MINUTE_MS)
  expect(watching.isOver).toBe(false)
  await clock.advance(2 * MINUTE_MS)
  expect(watching.isOver).toBe(true)
})

test('a watch ends within a minute after its user may no longer watch', async () => {
  const watching = await watch()
  await api.delete(RoleBinding, inNamespace('reader'))
  await clock.advance(MINUTE_MS)
  expect(watching.isOver).toBe(true)
})
