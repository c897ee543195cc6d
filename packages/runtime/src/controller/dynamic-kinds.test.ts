import { defineKind, type Kind, type KubeObject, type Stored } from '@tenure/kube'
import { ConfigMap, Namespace, Secret, Service } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, create, patch, readLive, remove } from '../actions/index.ts'
import { refuse } from '../testing/responses.ts'
import { ControllerFixture } from './fixture.testing.ts'
import { controller, type ControllerOptions } from './index.ts'
import { planFor, statusFor } from './plan-for.ts'

interface Bundle extends KubeObject {
  readonly spec: { readonly kinds: readonly string[]; readonly expires?: string }
  readonly status?: { readonly children: number }
}
const Bundle = defineKind<Bundle>({ apiVersion: 'example.dev/v1', kind: 'Bundle' })
const Gadget = defineKind({ apiVersion: 'example.dev/v1', kind: 'Gadget' })
const KINDS: Readonly<Record<string, Kind>> = { ConfigMap, Gadget, Secret, Service, Namespace }
const at = (name: string) => ({ name, namespace: 'default' })
const kindsOf = ({ spec }: Stored<Bundle>): readonly Kind[] => spec.kinds.flatMap((name) => KINDS[name] ?? [])

let fixture: ControllerFixture
beforeEach(() => (fixture = new ControllerFixture()))
afterEach(async () => await fixture.end())

const seed = (name: string, kinds: readonly string[], expires?: string) =>
  fixture.server.seed(Bundle, { metadata: at(name), spec: { kinds, ...(expires !== undefined && { expires }) } })
const bundle = (name: string) => fixture.server.peek(Bundle, at(name))
const watched = () =>
  new Set(fixture.server.requests.filter(({ verb }) => verb === 'watch').map(({ plural }) => plural))

const bundles = (options: Partial<ControllerOptions<Bundle>> = {}) =>
  controller(Bundle, {
    ownedKinds: { of: kindsOf },
    plan: ({ object }) => kindsOf(object).map((kind) => create(kind, { metadata: { name: object.metadata.name } })),
    status: ({ object, owned }) => ({ children: kindsOf(object).flatMap((kind) => owned(kind)).length }),
    ...options,
  })

const unreadable = (): never => {
  throw new Error('not readable')
}

/** The server does not serve a kind until the function is called. */
const unserved = (plural: string) =>
  fixture.server.intercept((request) => (request.plural === plural ? refuse(404, 'NotFound') : undefined))

describe('kinds that an object names', () => {
  test('a named kind is watched from the first object on, and its objects are owned', async () => {
    await fixture.start(bundles())
    expect(watched()).toEqual(new Set(['bundles']))
    const { metadata } = seed('a', ['Secret', 'ConfigMap'])
    await fixture.until(() => bundle('a')?.status?.children === 2)
    expect(watched()).toEqual(new Set(['bundles', 'secrets', 'configmaps']))
    const owner = { kind: 'Bundle', name: 'a', uid: metadata.uid, controller: true }
    expect(fixture.server.peek(Secret, at('a'))?.metadata.ownerReferences).toMatchObject([owner])
  })

  test('a child that is deleted is created again', async () => {
    seed('a', ['Secret'])
    await fixture.start(bundles())
    await fixture.until(() => bundle('a')?.status?.children === 1)
    fixture.server.unseed(Secret, at('a'))
    await fixture.settle()
    expect(fixture.server.peek(Secret, at('a'))).toBeDefined()
  })

  test('objects are applied, removed, read and listed as those of a declared kind are', async () => {
    seed('a', ['Secret'])
    fixture.server.seed(Secret, { metadata: at('foreign') })
    const seen: unknown[] = []
    await fixture.start(
      bundles({
        plan: ({ list, owned, read }) => {
          seen.push([read(Secret, 'foreign')?.metadata.name, list(Secret).length, owned(Secret, 'foreign')])
          return owned(Secret, 'old')
            ? [remove(Secret, 'old')]
            : [apply(Secret, { metadata: { name: 'a' }, type: 'Opaque' })]
        },
      }),
    )
    await fixture.settle()
    expect(seen[0]).toEqual(['foreign', 1, undefined])
    expect(fixture.writes).toEqual(['apply secrets/a', 'apply bundles/a/status'])
    const ownerReferences = fixture.server.peek(Secret, at('a'))?.metadata.ownerReferences ?? []
    fixture.server.seed(Secret, { metadata: { ...at('old'), ownerReferences } })
    await fixture.settle()
    expect(fixture.writes).toContain('delete secrets/old')
    expect(fixture.server.peek(Secret, at('a'))).toBeDefined()
  })

  test('the selection limits which objects of a named kind are watched', async () => {
    seed('a', ['Secret'])
    await fixture.start(
      bundles({ ownedKinds: { of: kindsOf, selection: { labelSelector: 'bundle' } }, plan: () => [] }),
    )
    await fixture.settle()
    const lists = fixture.server.requests.filter(({ plural, verb }) => verb === 'list' && plural === 'secrets')
    expect(lists.map(({ query }) => query['labelSelector'])).toEqual(['bundle'])
  })

  test("the controller's own kind may be named, and its children are shown beside its objects", async () => {
    const claims = controller(ConfigMap, {
      selection: { labelSelector: 'claim' },
      ownedKinds: { of: () => [ConfigMap], selection: { labelSelector: 'child' } },
      plan: ({ object, owned, read }) => {
        const child = owned(ConfigMap, 'child')
        if (child && !object.data) return [patch(ConfigMap, object, { data: { seen: child.metadata.name } })]
        if (object.data) return read(ConfigMap, 'claim') ? [remove(ConfigMap, 'claim')] : []
        return [create(ConfigMap, { metadata: { name: 'child', labels: { child: 'yes' } } })]
      },
    })
    fixture.server.seed(ConfigMap, { metadata: { ...at('claim'), labels: { claim: 'yes' } } })
    await fixture.start(claims)
    await fixture.settle()
    expect(fixture.writes).toEqual(['create configmaps/', 'patch configmaps/claim', 'delete configmaps/claim'])
  })

  test('a cluster-scoped kind fails the object in a namespace that names it', async () => {
    seed('a', ['Namespace'])
    await fixture.start(bundles())
    await fixture.until(() => fixture.linesAt('error').length > 0)
    expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({ code: 'TENURE_OWNER_SCOPE' })
    expect(watched()).toEqual(new Set(['bundles']))
  })

  test('nothing is watched for it after the controller stopped', async () => {
    seed('a', ['Secret', 'Gadget'])
    unserved('gadgets')
    const process = await fixture.start(bundles())
    await fixture.clock.advance(2_000)
    await process.stop()
    expect(fixture.server.openWatches).toBe(0)
    expect(fixture.clock.pending).toBe(0)
  })
})

describe('a named kind whose cache is not filled', () => {
  test('the object is planned when the cache is, and no other object waits for it', async () => {
    seed('a', ['Secret', 'Gadget'])
    seed('b', ['Secret'])
    const served = unserved('gadgets')
    const planned: string[] = []
    await fixture.start(
      bundles({
        concurrency: 1,
        plan: ({ object }) => {
          const { name } = object.metadata
          planned.push(name)
          return kindsOf(object).map((kind) => create(kind, { metadata: { name } }))
        },
      }),
    )
    await fixture.until(() => bundle('b')?.status?.children === 1)
    await fixture.clock.advance(60_000)
    expect(planned).not.toContain('a')
    expect(bundle('a')?.status).toBeUndefined()
    served()
    await fixture.clock.advance(60_000)
    await fixture.settle()
    expect(bundle('a')?.status).toEqual({ children: 2 })
  })

  test('an object expires meanwhile, and `expire` may read the kind', async () => {
    const expires = new Date(fixture.clock.now() + 30_000).toISOString()
    seed('a', ['Gadget'], expires)
    unserved('gadgets')
    const found: number[] = []
    await fixture.start(
      bundles({
        expiresAt: ({ spec }) => (spec.expires === undefined ? undefined : Date.parse(spec.expires)),
        expire: ({ object, owned }) => {
          found.push(owned(Gadget).length)
          return [remove(Bundle, object)]
        },
      }),
    )
    await fixture.clock.advance(29_000)
    expect(bundle('a')).toBeDefined()
    await fixture.clock.advance(2_000)
    expect(bundle('a')).toBeUndefined()
    expect(found[0]).toBe(0)
  })

  test('an object whose kinds cannot be told expires, too', async () => {
    seed('a', [], new Date(fixture.clock.now() + 1_000).toISOString())
    await fixture.start(
      bundles({ ownedKinds: { of: unreadable }, expiresAt: ({ spec }) => Date.parse(spec.expires ?? '') }),
    )
    await fixture.until(() => bundle('a') === undefined)
    expect(fixture.linesAt('warn').concat(fixture.linesAt('error'))).not.toEqual([])
  })

  test('an object that names the kind only after a live read waits as well', async () => {
    seed('a', [])
    unserved('gadgets')
    const planned: boolean[] = []
    let isChanged = false
    fixture.server.intercept(({ plural, verb }) => {
      if (plural !== 'bundles' || verb !== 'get' || isChanged) return undefined
      isChanged = true
      fixture.server.holdWatches()
      seed('a', ['Gadget'])
      return undefined
    })
    await fixture.start(
      bundles({
        plan: ({ isLive }) => {
          planned.push(isLive)
          return isLive ? [] : [readLive()]
        },
      }),
    )
    await fixture.until(() => isChanged)
    await fixture.settle()
    expect(planned).toEqual([false])
    expect(fixture.writes).toEqual([])
  })
})

test('planFor and statusFor show the objects of named kinds', () => {
  const object = { metadata: at('a'), spec: { kinds: ['Secret'] } }
  const owned = [{ apiVersion: 'v1', kind: 'Secret', metadata: at('a') }]
  expect(planFor(bundles(), { object })).toMatchObject([{ type: 'create', kind: Secret }])
  expect(statusFor(bundles(), { object, owned })).toEqual({ children: 1 })
})
