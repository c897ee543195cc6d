import { constants } from 'node:http2'
import { Client } from '@tenure/kube'
import { ConfigMap, Deployment, Namespace } from '@tenure/kube/kinds'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'
import { connectRaw, END_STREAM, FRAME, type RawConnection, RawHttp2 } from './raw-http2.testing.ts'

const NAMESPACE = '/api/v1/namespaces/default'
const APPLY = 'application/apply-patch+yaml'

let plane: ControlPlane
let api: Client

beforeAll(async () => {
  plane = await startControlPlane({ port: 0, controllers: false })
  api = new Client({ transport: plane.transport })
  await api.create(Namespace, { metadata: { name: 'elsewhere' } })
  const labels = { app: 'web' }
  await api.create(Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    },
  })
})

afterAll(() => plane.stop())

beforeEach(async () => {
  const object = { metadata: { name: 'kept', namespace: 'default' }, data: { a: '1', b: '2' } }
  await api.apply(ConfigMap, object, { fieldManager: 'test', force: true })
})

interface Case {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly body: string
}

const KEPT = `${NAMESPACE}/configmaps/kept`
const named = (name: string, rest: object): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest })
const preconditions = JSON.stringify({ preconditions: { uid: 'another' } })

/** Each would change something if it were carried out without its body, or with a part of it. */
const CASES: Readonly<Record<string, Case>> = {
  create: { method: 'POST', path: `${NAMESPACE}/configmaps`, type: 'application/json', body: named('new', {}) },
  update: { method: 'PUT', path: KEPT, type: 'application/json', body: named('kept', { data: { c: '3' } }) },
  'merge patch': { method: 'PATCH', path: KEPT, type: 'application/merge-patch+json', body: '{"data":{"a":null}}' },
  'JSON patch': {
    method: 'PATCH',
    path: KEPT,
    type: 'application/json-patch+json',
    body: '[{"op":"remove","path":"/data"}]',
  },
  'strategic merge patch': {
    method: 'PATCH',
    path: KEPT,
    type: 'application/strategic-merge-patch+json',
    body: '{"data":{"b":null}}',
  },
  apply: {
    method: 'PATCH',
    path: `${KEPT}?fieldManager=test&force=true`,
    type: APPLY,
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\ndata:\n  a: "4"\n  d: "5"\n',
  },
  delete: { method: 'DELETE', path: KEPT, type: 'application/json', body: preconditions },
  deletecollection: {
    method: 'DELETE',
    path: `${NAMESPACE}/configmaps`,
    type: 'application/json',
    body: JSON.stringify({ dryRun: ['All'] }),
  },
  scale: {
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/default/deployments/web/scale',
    type: 'application/merge-patch+json',
    body: '{"spec":{"replicas":7}}',
  },
  status: {
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/default/deployments/web/status',
    type: 'application/merge-patch+json',
    body: '{"status":{"replicas":7}}',
  },
}

/** How much of the body is sent before the cut. */
const PARTS: Readonly<Record<string, (body: string) => string>> = {
  'no body': () => '',
  // A prefix of YAML is YAML.
  'half of the body': (body) => body.slice(0, body.lastIndexOf('\n', body.length - 2) + 1 || body.length / 2),
  'all of the body but its end': (body) => body,
}

/** The revision after a write that began later: everything that was to be carried out before has been. */
async function revisionAfter(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    const { tls } = await connectRaw(plane.url ?? '', 'http/1.1')
    const answered = new Promise((resolve) => tls.once('data', resolve))
    tls.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await answered
    tls.destroy()
  }
  const marker = await api.create(ConfigMap, { metadata: { generateName: 'marker-', namespace: 'elsewhere' } })
  return Number(marker.metadata.resourceVersion)
}

type Cut = (client: RawHttp2) => void

const STREAM = 1
const HTTP2_CUTS: Readonly<Record<string, Cut>> = {
  'RST_STREAM with CANCEL': (client) => client.reset(STREAM, constants.NGHTTP2_CANCEL),
  'RST_STREAM with NO_ERROR': (client) => client.reset(STREAM, constants.NGHTTP2_NO_ERROR),
  'RST_STREAM with INTERNAL_ERROR': (client) => client.reset(STREAM, constants.NGHTTP2_INTERNAL_ERROR),
  'GOAWAY and the end of the connection': (client) => {
    client.goAway(constants.NGHTTP2_NO_ERROR)
    client.connection.tls.end()
  },
  'an invalid frame': (client) => client.send(FRAME.headers, 0, 0, Buffer.alloc(1)),
  'the end of TLS': ({ connection }) => connection.tls.end(),
  'the end of the connection': ({ connection }) => connection.tcp.end(),
  'a closed socket': ({ connection }) => connection.tcp.destroy(),
  'a reset socket': ({ connection }) => connection.tcp.resetAndDestroy(),
}

async function cutHttp2({ method, path, type, body }: Case, part: string, cut: Cut): Promise<void> {
  const client = await RawHttp2.open(plane.url ?? '')
  const authorization = `Bearer ${plane.token}`
  const target = { ':method': method, ':path': path, ':scheme': 'https', ':authority': 'a' }
  client.headers(STREAM, { ...target, authorization, 'content-type': type })
  const sent = PARTS[part]?.(body) ?? ''
  if (sent !== '') client.data(STREAM, sent)
  await client.ping()
  cut(client)
  await client.ping().catch(() => undefined)
  client.connection.tcp.destroy()
}

const HTTP1_CUTS: Readonly<Record<string, (connection: RawConnection) => void>> = {
  'the end of TLS': ({ tls }) => tls.end(),
  'the end of the connection': ({ tcp }) => tcp.end(),
  'a closed socket': ({ tcp }) => tcp.destroy(),
  'a reset socket': ({ tcp }) => tcp.resetAndDestroy(),
}

async function cutHttp1(
  { method, path, type, body }: Case,
  part: string,
  framing: string,
  cut: (connection: RawConnection) => void,
): Promise<void> {
  const connection = await connectRaw(plane.url ?? '', 'http/1.1')
  const { tls, tcp } = connection
  const sent = PARTS[part]?.(body) ?? ''
  const length = `content-length: ${Buffer.byteLength(body) + 1}`
  const frame = framing === 'chunked' ? 'transfer-encoding: chunked' : length
  const head = `${method} ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${plane.token}\r\ncontent-type: ${type}\r\n${frame}\r\n\r\n`
  const chunk = framing === 'chunked' && sent !== '' ? `${Buffer.byteLength(sent).toString(16)}\r\n${sent}\r\n` : sent
  await new Promise<void>((resolve) => tls.write(`${head}${chunk}`, () => resolve()))
  cut(connection)
  tcp.destroy()
}

describe.each(Object.keys(CASES))('a cut-off %s', (name) => {
  const given = CASES[name] as Case

  test.each(Object.keys(HTTP2_CUTS))('is not carried out over HTTP/2 after %s', async (how) => {
    const before = await revisionAfter()
    for (const part of Object.keys(PARTS)) await cutHttp2(given, part, HTTP2_CUTS[how] as Cut)
    expect(await revisionAfter()).toBe(before + 1)
  })

  test.each(Object.keys(HTTP1_CUTS))('is not carried out over HTTP/1.1 after %s', async (how) => {
    const cut = HTTP1_CUTS[how] as (connection: RawConnection) => void
    const before = await revisionAfter()
    for (const part of Object.keys(PARTS)) {
      for (const framing of ['chunked', 'content-length']) await cutHttp1(given, part, framing, cut)
    }
    expect(await revisionAfter()).toBe(before + 1)
  })
})

test.each(['a flag of the header frame', 'a data frame'])(
  'a request without a body is carried out over HTTP/2 if %s ends it',
  async (how) => {
    const client = await RawHttp2.open(plane.url ?? '')
    const target = { ':method': 'DELETE', ':path': KEPT, ':scheme': 'https', ':authority': 'a' }
    const isFlag = how === 'a flag of the header frame'
    client.headers(STREAM, { ...target, authorization: `Bearer ${plane.token}` }, isFlag ? END_STREAM : 0)
    if (!isFlag) client.data(STREAM, '', END_STREAM)
    await client.until(() => client.frames.some(({ type, stream }) => type === FRAME.headers && stream === STREAM))
    client.connection.tcp.destroy()
    await expect(api.get(ConfigMap, { name: 'kept', namespace: 'default' })).rejects.toMatchObject({ status: 404 })
  },
)

test('a request without a body is carried out over HTTP/1.1', async () => {
  const { tls } = await connectRaw(plane.url ?? '', 'http/1.1')
  const answered = new Promise((resolve) => tls.once('data', (data) => resolve(String(data).slice(9, 12))))
  tls.write(`DELETE ${KEPT} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${plane.token}\r\n\r\n`)
  expect(await answered).toBe('200')
  tls.destroy()
})
