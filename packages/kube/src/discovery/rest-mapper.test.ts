import { beforeEach, describe, expect, test } from 'vitest'
import { Requester } from '../client/requester.ts'
import { RestMapper } from './rest-mapper.ts'
import { ScriptedTransport } from '../testing/scripted-transport.ts'
import type { ScriptedResponse } from '../testing/scripted-transport.ts'
import { settle, VirtualClock } from '../testing/virtual-clock.ts'

interface Served {
  readonly [groupVersion: string]: readonly string[] | 'stale'
}

/** `Kind plural short…`, `!` before a cluster-scoped kind; the versions of a group in order of preference. */
function groupsOf(served: Served): object {
  const groups = Map.groupBy(Object.keys(served), (apiVersion) =>
    apiVersion.includes('/') ? apiVersion.split('/')[0] : '',
  )
  const items = [...groups].map(([name, apiVersions]) => ({
    metadata: { name },
    versions: apiVersions.map((apiVersion) => {
      const version = apiVersion.split('/').at(-1)
      const resources = served[apiVersion] ?? []
      if (typeof resources === 'string') return { version, freshness: 'Stale' }
      return { version, resources: resources.map(resourceOf) }
    }),
  }))
  return { kind: 'APIGroupDiscoveryList', items }
}

function resourceOf(line: string): object {
  const [kind = '', resource, ...shortNames] = line.replace('!', '').split(' ')
  return { resource, responseKind: { kind }, scope: line.startsWith('!') ? 'Cluster' : 'Namespaced', shortNames }
}

describe('RestMapper', () => {
  let clock: VirtualClock
  let core: Served
  let named: Served
  let readings: number
  let broken: ScriptedResponse | undefined
  let mapper: RestMapper

  beforeEach(() => {
    clock = new VirtualClock()
    core = { v1: ['Pod pods po', '!Node nodes no', 'Event events ev', 'Service services svc'] }
    named = {
      'apps/v1': ['Deployment deployments deploy'],
      'events.k8s.io/v1': ['Event events ev'],
      'autoscaling/v2': ['HorizontalPodAutoscaler horizontalpodautoscalers hpa'],
      'autoscaling/v1': ['HorizontalPodAutoscaler horizontalpodautoscalers hpa', 'Old olds'],
      'metrics.k8s.io/v1': 'stale',
      'example.dev/v1': ['Po policies'],
    }
    readings = 0
    broken = undefined
    const transport = new ScriptedTransport(({ path }) => {
      if (path === '/api') readings++
      return broken ?? { body: groupsOf(path === '/api' ? core : named) }
    })
    mapper = new RestMapper(new Requester({ transport, clock, retry: { attempts: 1 } }))
  })

  test.each([
    [{ name: 'Deployment', group: 'apps', version: 'v1' }, 'apps/v1', 'deployments', true],
    [{ name: 'Deployment' }, 'apps/v1', 'deployments', true],
    [{ name: 'deployments' }, 'apps/v1', 'deployments', true],
    [{ name: 'deployment' }, 'apps/v1', 'deployments', true],
    [{ name: 'DEPLOYMENT' }, 'apps/v1', 'deployments', true],
    [{ name: 'deploy' }, 'apps/v1', 'deployments', true],
    [{ name: 'node' }, 'v1', 'nodes', false],
    // The core group comes first, unless the query names another.
    [{ name: 'Event' }, 'v1', 'events', true],
    [{ name: 'Event', group: '' }, 'v1', 'events', true],
    [{ name: 'Event', group: 'events.k8s.io' }, 'events.k8s.io/v1', 'events', true],
    // The preferred version, unless the query names another or only another has the kind.
    [{ name: 'hpa' }, 'autoscaling/v2', 'horizontalpodautoscalers', true],
    [{ name: 'hpa', version: 'v1' }, 'autoscaling/v1', 'horizontalpodautoscalers', true],
    [{ name: 'Old' }, 'autoscaling/v1', 'olds', true],
    // The name of a kind has precedence over a short name of another.
    [{ name: 'Po' }, 'example.dev/v1', 'policies', true],
    [{ name: 'po' }, 'example.dev/v1', 'policies', true],
    [{ name: 'po', group: '' }, 'v1', 'pods', true],
  ])('the mapper finds %j', async (query, apiVersion, plural, namespaced) => {
    expect(await mapper.kind(query)).toMatchObject({ apiVersion, plural, namespaced, representation: 'full' })
  })

  test('the kind of an object or an owner reference is found', async () => {
    expect(await mapper.kindOf({ apiVersion: 'apps/v1', kind: 'Deployment' })).toMatchObject({ plural: 'deployments' })
    expect(await mapper.kindOf({ apiVersion: 'v1', kind: 'Pod' })).toMatchObject({ plural: 'pods' })
  })

  test('discovery is read once, and the same query returns the same Kind', async () => {
    const [first, second] = await Promise.all([mapper.kind({ name: 'Pod' }), mapper.kind({ name: 'pods' })])
    expect(second).toBe(first)
    await clock.advance(3_600_000)
    expect(await mapper.kind({ name: 'po', group: '' })).toBe(first)
    expect(readings).toBe(1)
  })

  test('a miss reads discovery again, at most every 5 seconds', async () => {
    const website = { name: 'Website', group: 'example.dev' }
    for (let count = 0; count < 10; count++)
      await expect(mapper.kind(website)).rejects.toThrow(/does not serve Website/)
    expect(readings).toBe(1)
    named = { ...named, 'example.dev/v1': ['Website websites'] }
    await clock.advance(5000)
    expect(await mapper.kind(website)).toMatchObject({ plural: 'websites' })
    expect(readings).toBe(2)
  })

  test('the error suggests similar kinds', async () => {
    await expect(mapper.kind({ name: 'Deploymnet' })).rejects.toMatchObject({
      code: 'TENURE_KIND_UNKNOWN',
      fate: 'retry',
      message: expect.stringContaining('Did you mean Deployment (apps/v1)?'),
    })
    await expect(mapper.kind({ name: 'Deployment', group: 'extensions' })).rejects.toThrow(
      /does not serve Deployment extensions\. Did you mean Deployment \(apps\/v1\)\?/,
    )
    await expect(mapper.kind({ name: 'Website' })).rejects.toThrow(/CRD is installed/)
  })

  test('the error names a group that cannot be read as the likely reason', async () => {
    await expect(mapper.kind({ name: 'PodMetrics', group: 'metrics.k8s.io' })).rejects.toThrow(
      /metrics\.k8s\.io\/v1.*APIService/,
    )
  })

  test('a failed read is not cached', async () => {
    broken = { status: 500 }
    await expect(mapper.kind({ name: 'Pod' })).rejects.toMatchObject({ status: 500 })
    broken = undefined
    expect(await mapper.kind({ name: 'Pod' })).toMatchObject({ plural: 'pods' })
  })

  test('an aborted caller does not abort the read of the others', async () => {
    const abort = new AbortController()
    const impatient = mapper.kind({ name: 'Pod' }, { signal: abort.signal }).catch((error: unknown) => error)
    const patient = mapper.kind({ name: 'Pod' })
    abort.abort(new Error('enough'))
    expect(await impatient).toMatchObject({ message: 'enough' })
    expect(await patient).toMatchObject({ plural: 'pods' })
    expect(readings).toBe(1)
  })

  test('a read that was pending at invalidate is not cached', async () => {
    const before = mapper.kind({ name: 'Pod' })
    await settle()
    mapper.invalidate()
    core = { v1: [] }
    expect(await before).toMatchObject({ plural: 'pods' })
    await expect(mapper.kind({ name: 'Pod' })).rejects.toMatchObject({ code: 'TENURE_KIND_UNKNOWN' })
    expect(readings).toBe(2)
  })

  test('a resource has all fields of discovery', async () => {
    expect(await mapper.resource({ name: 'pods' })).toMatchObject({ kind: 'Pod', shortNames: ['po'], singular: 'pod' })
    expect((await mapper.groups()).map(({ name }) => name)).toContain('metrics.k8s.io')
  })
})
