import { describe, expect, test } from 'vitest'
import { discover } from './discovery.ts'
import { Requester } from '../client/requester.ts'
import { ScriptedTransport } from '../testing/scripted-transport.ts'
import type { ScriptedResponse } from '../testing/scripted-transport.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const pods = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  verbs: ['get', 'list'],
  subresources: ['log', 'status'],
}
const scales = {
  group: 'example.dev',
  version: 'v2',
  kind: 'Scale',
  plural: 'scales',
  singular: 'scale',
  shortNames: [],
  categories: [],
  namespaced: false,
  verbs: [],
  subresources: [],
}

const AGGREGATED: Record<string, unknown> = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            freshness: 'Current',
            resources: [
              {
                resource: 'pods',
                responseKind: { group: '', version: 'v1', kind: 'Pod' },
                scope: 'Namespaced',
                singularResource: 'pod',
                shortNames: ['po'],
                categories: ['all'],
                verbs: ['get', 'list'],
                subresources: [{ subresource: 'log' }, { subresource: 'status' }],
              },
              { resource: 'ghosts', responseKind: {}, scope: 'Namespaced', verbs: [] },
            ],
          },
        ],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'example.dev' },
        versions: [
          {
            version: 'v2',
            freshness: 'Current',
            resources: [{ resource: 'scales', responseKind: { kind: 'Scale' }, scope: 'Cluster' }],
          },
          { version: 'v1', freshness: 'Current' },
        ],
      },
      { metadata: { name: 'metrics.k8s.io' }, versions: [{ version: 'v1', freshness: 'Stale' }] },
    ],
  },
}

const LEGACY: Record<string, unknown> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    resources: [
      {
        name: 'pods',
        singularName: 'pod',
        namespaced: true,
        kind: 'Pod',
        verbs: ['get', 'list'],
        shortNames: ['po'],
        categories: ['all'],
      },
      { name: 'pods/log', namespaced: true, kind: 'Pod', verbs: ['get'] },
      { name: 'pods/status', namespaced: true, kind: 'Pod', verbs: ['get'] },
    ],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      { name: 'example.dev', versions: [{ version: 'v1' }, { version: 'v2' }], preferredVersion: { version: 'v2' } },
      { name: 'metrics.k8s.io', versions: [{ version: 'v1' }] },
    ],
  },
  '/apis/example.dev/v1': { resources: [] },
  '/apis/example.dev/v2': { resources: [{ name: 'scales', singularName: '', namespaced: false, kind: 'Scale' }] },
}

function requester(paths: Record<string, unknown>, otherwise: ScriptedResponse) {
  const transport = new ScriptedTransport(({ path }) => (path in paths ? { body: paths[path] } : otherwise))
  return { transport, requester: new Requester({ transport, clock: new VirtualClock(), retry: { attempts: 1 } }) }
}

describe('discover', () => {
  test('aggregated discovery takes two requests and marks a stale group', async () => {
    const at = requester(AGGREGATED, { status: 404 })
    expect(await discover(at.requester)).toEqual([
      { name: '', versions: [{ version: 'v1', resources: [pods], failure: undefined }] },
      {
        name: 'example.dev',
        versions: [
          { version: 'v2', resources: [scales], failure: undefined },
          { version: 'v1', resources: [], failure: undefined },
        ],
      },
      { name: 'metrics.k8s.io', versions: [{ version: 'v1', resources: [], failure: expect.any(Error) }] },
    ])
    expect(at.transport.requests).toHaveLength(2)
    expect(at.transport.requests[0]?.headers?.['accept']).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
    )
  })

  test('an older server gives the same result with one request per version, and a broken group hides no other', async () => {
    const [core, example, metrics] = await discover(requester(LEGACY, { status: 503, body: 'down' }).requester)
    expect([core, example]).toEqual((await discover(requester(AGGREGATED, {}).requester)).slice(0, 2))
    expect(metrics?.versions).toEqual([
      { version: 'v1', resources: [], failure: expect.objectContaining({ status: 503 }) },
    ])
  })

  test('a group that disappears during discovery is not a failure', async () => {
    const [, , metrics] = await discover(requester(LEGACY, { status: 404 }).requester)
    expect(metrics?.versions).toEqual([{ version: 'v1', resources: [], failure: undefined }])
  })

  test('discovery fails if the server does not answer', async () => {
    await expect(discover(requester({}, { status: 403 }).requester)).rejects.toMatchObject({ status: 403 })
    await expect(discover(requester({}, { body: 'null' }).requester)).rejects.toMatchObject({
      code: 'TENURE_ANSWER_UNREADABLE',
    })
  })
})
