import { readFileSync } from 'node:fs'
import { applications } from '@tenure/applications'
import { httpServer, type Listening } from '@tenure/http'
import type { KubeObject } from '@tenure/kube'
import { Namespace, NetworkPolicy, Role, RoleBinding, ServiceAccount } from '@tenure/kube/kinds'
import { createLogger, createMetrics } from '@tenure/runtime'
import { loadAll } from 'js-yaml'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { InProcessFloor } from '../floors/index.ts'

const example = (file: string): readonly KubeObject[] =>
  loadAll(
    readFileSync(new URL(`../../docs/examples/production/${file}`, import.meta.url), 'utf8'),
  ) as readonly KubeObject[]
const guide = readFileSync(new URL('../../docs/guides/production.md', import.meta.url), 'utf8')
const metricsPage = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8')

let floor: InProcessFloor

beforeEach(async () => {
  floor = await InProcessFloor.enter()
})
afterEach(() => floor.leave())

/** A token of the account, as `kubectl create token` asks for it. */
async function tokenOf(namespace: string, name: string): Promise<string> {
  const { body } = await (
    await floor.transport()
  ).request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
  })
  return (JSON.parse(await body.text()) as { readonly status: { readonly token: string } }).status.token
}

test(
  'the account of the guide may use Applications in its namespace, and the audit log names it',
  { timeout: 120_000 },
  async () => {
    const { api } = floor
    const [namespace, account, role, binding] = example('access.yaml')
    await api.apply(Namespace, namespace as Namespace)
    await api.apply(ServiceAccount, account as ServiceAccount)
    await api.apply(Role, role as Role)
    await api.apply(RoleBinding, binding as RoleBinding)
    const token = await tokenOf('shop', 'deployer')
    const lines: string[] = []
    let listening: Listening | undefined
    await floor.runOperators({
      operators: [applications],
      webhooks: 'none',
      leaderElection: false,
      metrics: await createMetrics({ processMetrics: false }),
      log: await createLogger({ clock: floor.clock, destination: { write: (text) => lines.push(text) } }),
      servers: [
        httpServer({ address: '127.0.0.1:0', authentication: 'token', onListening: (where) => (listening = where) }),
      ],
    })
    const { url } = await floor.until('the API listens', () => listening)
    const send = async (target: string, body?: object): Promise<number> => {
      let status: number | undefined
      void fetch(`${url}/apis/cloudnative.elide.dev/v1/namespaces/${target}/applications`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }).then((response) => (status = response.status))
      return await floor.until(`${target} is answered`, () => status)
    }
    const web = { metadata: { name: 'web' }, spec: { replicas: 1, image: 'nginx:1.27' } }
    expect([await send('shop', web), await send('shop'), await send('default'), await send('default', web)]).toEqual([
      201, 200, 403, 403,
    ])
    const audited = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ audit }) => audit === true)
    const user = 'system:serviceaccount:shop:deployer'
    expect(audited).toMatchObject([
      {
        user,
        verb: 'create',
        resource: 'applications.cloudnative.elide.dev',
        namespace: 'shop',
        name: 'web',
        status: 201,
      },
      { user, verb: 'create', namespace: 'default', status: 403 },
    ])
    expect(lines.join('')).not.toContain(token)
  },
)

test('the NetworkPolicy of the guide selects the pods of the manifests, and their ports', async () => {
  const [policy] = example('network-policy.yaml')
  const { spec } = await floor.api.create(NetworkPolicy, policy as NetworkPolicy, { fieldValidation: 'Strict' })
  const manifest = new URL('../../packages/claims/config/manager/deployment.yaml', import.meta.url)
  const text = readFileSync(manifest, 'utf8')
  for (const [key, value] of Object.entries(spec?.podSelector?.matchLabels ?? {}))
    expect(text).toContain(`${key}: ${value}`)
  const ports = (spec?.ingress ?? []).flatMap((rule) => rule.ports ?? []).map(({ port }) => port)
  expect(ports).toEqual([8080, 8081])
  for (const port of ports) expect(text).toContain(`containerPort: ${port}`)
})

test('the alerts of the guide use metrics that exist', () => {
  const alerts = guide.slice(guide.indexOf('| alert when')).split('\n\n')[0] ?? ''
  const names = [...alerts.matchAll(/\b(?:[a-z]+_){2,}[a-z]+\b/g)].map(([name]) => name.replace(/_bucket$/, ''))
  const metrics = names.filter((name) => !['histogram_quantile'].includes(name))
  expect(metrics.length).toBeGreaterThan(5)
  expect(metrics.filter((name) => !metricsPage.includes(`\`${name}\``))).toEqual([])
})
