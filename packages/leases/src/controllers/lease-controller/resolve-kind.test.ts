import type { ApiGroups, ApiResource } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { resolveKind, type Resolution } from './resolve-kind.ts'
import { targetOf } from './target.ts'
import type { LeaseControllerSpec } from '../../api/lease-controller.ts'

const ALL = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

function resource(group: string, version: string, kind: string, more: Partial<ApiResource> = {}): ApiResource {
  const singular = kind.toLowerCase()
  const names = { kind, singular, plural: `${singular}s`, shortNames: [], categories: [] }
  return { group, version, ...names, namespaced: true, verbs: ALL, subresources: [], ...more }
}

const served = (version: string, ...resources: readonly ApiResource[]) => ({ version, resources, failure: undefined })

const groups: ApiGroups = [
  {
    name: '',
    versions: [
      served(
        'v1',
        resource('', 'v1', 'Pod'),
        resource('', 'v1', 'Binding', { verbs: ['create'] }),
        resource('', 'v1', 'Event'),
      ),
    ],
  },
  { name: 'apps', versions: [served('v1', resource('apps', 'v1', 'Deployment'))] },
  {
    name: 'autoscaling',
    versions: [
      served('v2', resource('autoscaling', 'v2', 'HorizontalPodAutoscaler')),
      served('v1', resource('autoscaling', 'v1', 'HorizontalPodAutoscaler')),
    ],
  },
  { name: 'one.dev', versions: [served('v1', resource('one.dev', 'v1', 'Application'))] },
  {
    name: 'going.dev',
    versions: [
      served(
        'v1',
        resource('going.dev', 'v1', 'Thing', { verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'] }),
      ),
    ],
  },
  { name: 'two.dev', versions: [served('v1', resource('two.dev', 'v1', 'Application'))] },
  {
    name: 'metrics.dev',
    versions: [{ version: 'v1', resources: [], failure: new Error('Its server does not answer.') }],
  },
]

function resolve(spec: LeaseControllerSpec): Resolution {
  const target = targetOf(spec)
  if (!target.ok) throw new Error(target.reason)
  return resolveKind(groups, target.wanted)
}

/** `deployments.apps/v1`, and what there is to say about it. */
function found(spec: LeaseControllerSpec): readonly [string, string | undefined] {
  const resolution = resolve(spec)
  if (resolution.state !== 'found') throw new Error(resolution.reason)
  const { plural, group, version } = resolution.resource
  return [`${plural}.${group}/${version}`, resolution.note]
}

describe('resolveKind finds a kind', () => {
  test.each<[LeaseControllerSpec, string]>([
    [{ group: 'apps', version: 'v1', kind: 'Deployment' }, 'deployments.apps/v1'],
    [{ group: 'apps', kind: 'deployment' }, 'deployments.apps/v1'],
    [{ group: 'apps', kind: { singular: 'Deployment', plural: 'deployments' } }, 'deployments.apps/v1'],
    [{ group: 'apps', kind: { plural: 'deployments' } }, 'deployments.apps/v1'],
    [{ group: 'apps', kind: { singular: 'deployment' } }, 'deployments.apps/v1'],
    [{ group: '', version: 'v1', kind: 'Pod' }, 'pods./v1'],
    [{ kind: 'Pod' }, 'pods./v1'],
    [{ group: 'autoscaling', kind: 'HorizontalPodAutoscaler' }, 'horizontalpodautoscalers.autoscaling/v2'],
    [
      { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
      'horizontalpodautoscalers.autoscaling/v1',
    ],
  ])('the spec %j resolves without a note', (spec, expected) => {
    expect(found(spec)).toEqual([expected, undefined])
  })

  test('a kind without a group resolves to the only group that serves it', () => {
    expect(found({ group: '', version: 'v1', kind: 'Deployment' })).toEqual([
      'deployments.apps/v1',
      'the core group has no Deployment; using apps/v1',
    ])
  })

  test('a kind resolves to another version of its group', () => {
    expect(found({ group: 'apps', version: 'v1beta1', kind: 'Deployment' })).toEqual([
      'deployments.apps/v1',
      'version v1beta1 is not served; using v1',
    ])
  })
})

describe('resolveKind does not find a kind', () => {
  test('a kind in another group than the named one is missing', () => {
    const spec = { group: 'startpunkt.ullberg.us', version: 'v1alpha2', kind: 'Application' }
    expect(resolve(spec)).toMatchObject({
      state: 'missing',
      reason: expect.stringContaining('does not serve Application (startpunkt.ullberg.us/v1alpha2)'),
    })
  })

  test('a kind in several groups is ambiguous', () => {
    expect(resolve({ kind: 'Application' })).toMatchObject({
      state: 'unfit',
      reason: expect.stringContaining('set spec.group to one.dev or two.dev'),
    })
  })

  test('a kind without the needed verbs is unfit', () => {
    expect(resolve({ kind: 'Binding' })).toMatchObject({
      state: 'unfit',
      reason: 'Binding cannot have leases: the API server does not support list, watch, patch, delete for bindings.',
    })
  })

  test('a kind whose CRD is being deleted is missing', () => {
    expect(resolve({ group: 'going.dev', kind: 'Thing' })).toMatchObject({
      state: 'missing',
      reason: 'Thing cannot be patched: its CRD is being deleted.',
    })
  })

  test('a kind whose API server is unavailable is missing, with the reason', () => {
    expect(resolve({ group: 'metrics.dev', kind: 'NodeMetrics' })).toMatchObject({
      state: 'missing',
      reason: expect.stringContaining('Its server does not answer.'),
    })
  })
})

test.each([[5], [true], [['a']], [{}], [{ plural: 7 }], [''], [null]])('the value %j is not a kind', (kind) => {
  // A server without the schema would accept it.
  expect(targetOf({ kind: kind as never })).toMatchObject({ ok: false, reason: expect.stringContaining('spec.kind') })
})

test('names of two different kinds resolve to neither', () => {
  expect(resolve({ kind: { singular: 'Event', plural: 'pods' } })).toMatchObject({
    state: 'missing',
    reason: expect.stringContaining('does not serve pods/Event.'),
  })
})
