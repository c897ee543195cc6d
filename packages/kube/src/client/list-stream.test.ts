import { describe, expect, test } from 'vitest'
import { Client } from './client.ts'
import { defineKind, metadataOf } from '../model/kind.ts'
import type { KubeObject, ListMeta, ObjectMeta, Stored } from '../model/object.ts'
import { encodeMetadataList } from '../decode/protobuf/encoder.testing.ts'
import { FedBody, ScriptedTransport } from '../testing/scripted-transport.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { TransportResponse } from '../transport/transport.ts'

const Note = defineKind({ apiVersion: 'example.dev/v1', kind: 'Note' })
const listMeta: ListMeta = { resourceVersion: '9' }
const managedFields = [{ manager: 'me' }, { manager: 'you' }]
const metas: readonly ObjectMeta[] = ['a', 'b'].map((name) => ({
  name,
  namespace: 'default',
  uid: `u-${name}`,
  resourceVersion: '5',
  creationTimestamp: '2026-01-01T00:00:00Z',
  managedFields,
}))
const ACCEPT_JSON = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
const ACCEPT = `application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${ACCEPT_JSON}`

function protobuf(bytes: Buffer): TransportResponse {
  const body = new FedBody()
  for (const byte of bytes) body.push(Buffer.of(byte))
  body.end()
  return { status: 200, headers: { 'content-type': 'application/vnd.kubernetes.protobuf' }, body }
}

function clientOf(response: TransportResponse | { body: unknown }): { client: Client; transport: ScriptedTransport } {
  const transport = new ScriptedTransport(() => response)
  return { client: new Client({ transport, clock: new VirtualClock() }), transport }
}

async function itemsOf(list: AsyncIterable<readonly Stored<KubeObject>[]>): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = []
  for await (const batch of list) items.push(...batch)
  return items
}

describe('a streamed list of metadata', () => {
  const items = metas.map((metadata) => ({ apiVersion: 'example.dev/v1', kind: 'Note', metadata }))
  const partial = metas.map((metadata) => ({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }))

  test.each([
    ['protobuf', () => protobuf(encodeMetadataList(listMeta, metas))],
    ['JSON', () => ({ body: { metadata: listMeta, items: partial } })],
    ['JSON, whole', () => ({ body: { metadata: listMeta, items: metas.map((metadata) => ({ metadata, spec: {} })) } })],
  ])('the list accepts protobuf and %s', async (_what, response) => {
    const { client, transport } = clientOf(response())
    const list = client.streamList(metadataOf(Note))
    expect(list.metadata).toBeUndefined()
    expect(await itemsOf(list)).toStrictEqual(items)
    expect(list.metadata).toStrictEqual(listMeta)
    expect(transport.requests[0]?.headers).toEqual({ accept: ACCEPT })
  })

  test('managedFields that are not needed are omitted', async () => {
    const { client } = clientOf(protobuf(encodeMetadataList(listMeta, metas)))
    const read = await itemsOf(client.streamList(metadataOf(Note), { managedFieldsOf: ['me'] }))
    expect(read.map(({ metadata }) => metadata?.managedFields)).toEqual([[{ manager: 'me' }], [{ manager: 'me' }]])
  })

  test('a list that is cut short fails', async () => {
    const { client } = clientOf(protobuf(encodeMetadataList(listMeta, metas).subarray(0, -10)))
    await expect(itemsOf(client.streamList(metadataOf(Note)))).rejects.toMatchObject({ code: 'TENURE_LIST_UNREADABLE' })
  })

  test.each([
    [403, 'TENURE_API_FORBIDDEN'],
    [404, 'TENURE_API_NOT_FOUND'],
    [410, 'TENURE_API_GONE'],
    [429, 'TENURE_API_TOO_MANY_REQUESTS'],
  ])('an error %i has its code in any encoding', async (status, code) => {
    const body = Object.assign(new FedBody(), { text: () => Promise.resolve('k8s\0') })
    const { client } = clientOf({ ...protobuf(Buffer.alloc(0)), status, body })
    await expect(itemsOf(client.streamList(metadataOf(Note)))).rejects.toMatchObject({ code, status })
  })
})

test('lists of full objects and lists without streaming accept only JSON', async () => {
  const { client, transport } = clientOf({ body: { metadata: listMeta, items: [] } })
  await itemsOf(client.streamList(Note))
  await client.list(metadataOf(Note))
  expect(transport.requests.map(({ headers }) => headers?.['accept'])).toEqual(['application/json', ACCEPT_JSON])
})
