/** Tests discovery and the REST mapper on a real API server. */
import { isDeepStrictEqual } from 'node:util'

import type { ApiGroups, Kind, Transport } from '@tenure/kube'
import { Client, discover, HttpTransport, kindKey, loadConfig, RestMapper } from '@tenure/kube'
import * as kinds from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type Connected, connect } from './support/connect.ts'
import { customResource } from './support/custom-resource.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }

let connection: Connected
let client: Connected['client']

beforeAll(async () => {
  connection = await connect(workerKubeconfig())
  client = connection.client
})

afterAll(() => connection.close())

describe('discovery', () => {
  test('two requests discover everything', async () => {
    const sent = connection.responses.length
    const groups = await discover(client.requester)
    expect(
      connection.responses
        .slice(sent)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(['/api', '/apis'])
    expect(groups[0]?.name).toBe('')
    expect(groups.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['apps', 'batch', 'coordination.k8s.io', 'rbac.authorization.k8s.io']),
    )
    const apps = groups.find(({ name }) => name === 'apps')?.versions[0]
    expect(apps).toMatchObject({ version: 'v1', failure: undefined })
    expect(apps?.resources.find(({ kind }) => kind === 'Deployment')).toEqual({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      plural: 'deployments',
      singular: 'deployment',
      shortNames: ['deploy'],
      categories: ['all'],
      namespaced: true,
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      subresources: ['scale', 'status'],
    })
  })

  test('discovery group by group, for older servers, finds the same', async () => {
    const transport = new HttpTransport(await loadConfig({ kubeconfigPath: workerKubeconfig() }))
    const older = new Client({ transport: withoutAggregation(transport) })
    // The two may differ while the definition of another test is being deleted.
    const isSame = async (): Promise<boolean> => {
      const both = await Promise.all([discover(client.requester), discover(older.requester)])
      const [aggregated, legacy] = both.map(ordered)
      expect(aggregated?.length).toBeGreaterThan(10)
      return isDeepStrictEqual(legacy, aggregated)
    }
    await expect.poll(isSame, POLL_OPTIONS).toBe(true)
    await transport.close()
  })

  test('discovery matches every generated kind', async () => {
    const groups = await discover(client.requester)
    const served = new Map<string, boolean>()
    for (const { versions } of groups) {
      for (const { resources } of versions) {
        for (const resource of resources) {
          const { group, version, plural, kind, namespaced } = resource
          served.set(`${group}/${version}/${plural}/${kind}`, namespaced)
        }
      }
    }
    const generated = Object.values<Kind>(kinds)
    expect(generated.length).toBeGreaterThan(60)
    const wrong = generated.filter(
      ({ group, version, plural, kind, namespaced }) =>
        served.get(`${group}/${version}/${plural}/${kind}`) !== namespaced,
    )
    expect(wrong.map(kindKey)).toEqual([])
  })
})

describe('the REST mapper', () => {
  test.each([
    ['Deployment', 'deployments.apps/v1', true],
    ['deployments', 'deployments.apps/v1', true],
    ['deploy', 'deployments.apps/v1', true],
    ['po', 'pods/v1', true],
    ['cm', 'configmaps/v1', true],
    ['no', 'nodes/v1', false],
    ['ns', 'namespaces/v1', false],
    ['crd', 'customresourcedefinitions.apiextensions.k8s.io/v1', false],
    ['ingress', 'ingresses.networking.k8s.io/v1', true],
    ['ENDPOINTSLICE', 'endpointslices.discovery.k8s.io/v1', true],
  ])('the REST mapper finds %s', async (name, key, namespaced) => {
    const kind = await new RestMapper(client.requester).kind({ name })
    expect(kindKey(kind)).toBe(key)
    expect(kind.namespaced).toBe(namespaced)
  })

  test('the REST mapper distinguishes kinds of the same name in two groups', async () => {
    const mapper = new RestMapper(client.requester)
    expect(kindKey(await mapper.kind({ name: 'Event' }))).toBe('events/v1')
    expect(kindKey(await mapper.kind({ name: 'Event', group: 'events.k8s.io' }))).toBe('events.events.k8s.io/v1')
    expect(kindKey(await mapper.kindOf({ apiVersion: 'v1', kind: 'Event' }))).toBe('events/v1')
    expect(await mapper.kind({ name: 'ev', group: '' })).toBe(await mapper.kind({ name: 'Event' }))
  })

  test('the REST mapper finds a later kind, and loses it with its definition', async () => {
    const gizmos = customResource(client, { kind: 'Gizmo', shortNames: ['giz'] })
    const { group, apiVersion } = gizmos.kind
    const mapper = new RestMapper(client.requester, { refreshAfter: 0 })
    await expect(mapper.kind({ name: 'Gizmo', group })).rejects.toMatchObject({
      code: 'TENURE_KIND_UNKNOWN',
      fate: 'retry',
      message: `The API server does not serve Gizmo ${group}. If it is a custom resource, check that its CRD is installed.`,
    })
    await gizmos.install()
    // Its objects may be served a moment before discovery lists it.
    await expect
      .poll(() => mapper.kind({ name: 'giz', group }).catch(() => undefined), POLL_OPTIONS)
      .toEqual(gizmos.kind)
    expect(await mapper.kindOf({ apiVersion, kind: 'Gizmo' })).toEqual(gizmos.kind)
    expect((await mapper.resource({ name: 'Gizmo' })).subresources.toSorted()).toEqual(['scale', 'status'])
    await gizmos.uninstall()
    mapper.invalidate()
    await expect
      .poll(() => {
        mapper.invalidate()
        return mapper.kind({ name: 'Gizmo', group }).catch((error: unknown) => error)
      }, POLL_OPTIONS)
      .toMatchObject({ code: 'TENURE_KIND_UNKNOWN' })
  })

  test('the REST mapper does not repeat discovery for every unknown kind', async () => {
    const mapper = new RestMapper(client.requester)
    await mapper.groups()
    const sent = connection.responses.length
    for (const name of ['Nothing', 'Nix', 'Nada']) {
      await expect(mapper.kind({ name })).rejects.toMatchObject({ code: 'TENURE_KIND_UNKNOWN' })
    }
    expect(connection.responses).toHaveLength(sent)
  })

  test('the REST mapper suggests the closest name', async () => {
    await expect(new RestMapper(client.requester).kind({ name: 'Deploymnet' })).rejects.toThrow(
      'The API server does not serve Deploymnet. Did you mean Deployment (apps/v1)?',
    )
  })
})

/** Disables aggregated discovery. */
function withoutAggregation(transport: Transport): Transport {
  return {
    request: (request) => {
      expect(request.path).toMatch(/^\/apis?(\/|$)/)
      return transport.request({ ...request, headers: { ...request.headers, accept: 'application/json' } })
    },
    close: () => transport.close(),
  }
}

/** The order of groups and versions is significant; that of resources is not. */
function ordered(groups: ApiGroups): readonly object[] {
  return groups.map(({ name, versions }) => ({
    name,
    versions: versions.map(({ resources, ...version }) => ({
      ...version,
      resources: resources
        .map((resource) => ({ ...resource, subresources: resource.subresources.toSorted() }))
        .toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
    })),
  }))
}
