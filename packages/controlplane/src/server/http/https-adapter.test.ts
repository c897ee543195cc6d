import { connect } from 'node:http2'
import { request } from 'node:https'
import { Client } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const COUNT = 400

let plane: ControlPlane

beforeAll(async () => {
  plane = await startControlPlane({ port: 0, controllers: false })
  const api = new Client({ transport: plane.transport })
  // With non-ASCII characters: pieces are cut between bytes, not characters.
  const data = { payload: `${'x'.repeat(1000)}ü€🎈` }
  for (let index = 0; index < COUNT; index++) {
    await api.create(ConfigMap, { metadata: { name: `map-${index}`, namespace: 'default' }, data })
  }
})

afterAll(() => plane.stop())

async function inProcess(path: string, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await plane.transport.request({ method: 'GET', path, headers })
  return body.text()
}

interface Answer {
  readonly status: number | undefined
  readonly length: string | undefined
  readonly text: string
}

function http1(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${plane.token}`
    const options = { method, rejectUnauthorized: false, headers: { authorization, ...headers } }
    const asked = request(`${plane.url}${path}`, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          length: response.headers['content-length'],
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** Disconnects after `most` bytes. */
function http2(path: string, most = Infinity): Promise<string> {
  return new Promise((resolve, reject) => {
    const session = connect(plane.url ?? '', { rejectUnauthorized: false })
    const stream = session.request({ ':path': path, authorization: `Bearer ${plane.token}` })
    const chunks: Buffer[] = []
    let size = 0
    const finish = (): void => {
      session.destroy()
      resolve(Buffer.concat(chunks).toString())
    }
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size >= most) finish()
    })
    stream.on('end', finish)
    stream.on('error', reject)
  })
}

test('a long list is the same in process and over both protocols', async () => {
  const whole = await inProcess(PATH)
  expect((JSON.parse(whole) as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(COUNT)
  expect((await http1(PATH)).text).toBe(whole)
  expect(await http2(PATH)).toBe(whole)
  const chunks: Buffer[] = []
  const { body } = await plane.transport.request({ method: 'GET', path: PATH })
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  expect(Buffer.concat(chunks).toString()).toBe(whole)
})

test('a long list is served in every representation', async () => {
  for (const accept of [
    'application/yaml',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
  ]) {
    const response = await http1(`${PATH}?limit=300`, { accept })
    expect(response.text.replaceAll(/"?\d+s"?/g, 'age')).toBe(
      (await inProcess(`${PATH}?limit=300`, { accept })).replaceAll(/"?\d+s"?/g, 'age'),
    )
    expect(response.text).toContain('map-299')
  }
})

test('readers that disconnect in the middle of a list do not disturb others', async () => {
  const whole = await inProcess(PATH)
  await Promise.all(Array.from({ length: 5 }, () => http2(PATH, 1)))
  const responses = await Promise.all([http2(PATH), http2(PATH, 100_000), http1(PATH).then(({ text }) => text)])
  expect(responses[0]).toBe(whole)
  expect(whole.startsWith(responses[1]?.slice(0, 50_000) ?? '')).toBe(true)
  expect(responses[2]).toBe(whole)
})

test('a short response has its length in bytes, and HEAD has no body', async () => {
  const { length, text } = await http1(`${PATH}/map-1`)
  expect(Number(length)).toBe(Buffer.byteLength(text))
  expect(text).toContain('ü€🎈')
  expect(await http1('/healthz', {}, 'HEAD')).toMatchObject({ status: 200, length: '2', text: '' })
  // kube-apiserver does not support HEAD for resources.
  for (const path of [PATH, `${PATH}/map-1`]) {
    expect(await http1(path, {}, 'HEAD')).toMatchObject({ status: 405, text: '' })
  }
})

test('a request whose body never ends is not carried out', async () => {
  const before = plane.storage.revision
  await new Promise<void>((resolve) => {
    const headers = { authorization: `Bearer ${plane.token}`, 'content-length': '1000' }
    const asked = request(`${plane.url}${PATH}`, { method: 'POST', rejectUnauthorized: false, headers })
    asked.on('error', () => resolve())
    asked.write('{"metadata":{"name":"cut"}}', () => asked.destroy(new Error('gone')))
  })
  expect((await http1(`${PATH}/cut`)).status).toBe(404)
  expect(plane.storage.revision).toBe(before)
})
