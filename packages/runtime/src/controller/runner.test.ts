import { defineKind, type KubeObject, type ObjectRef } from '@tenure/kube'
import { settle } from '@tenure/kube/testing'
import { ConfigMap, Namespace, Secret } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, call, status } from '../actions/index.ts'
import { byIndex, byLabel, specOrMetadataChanged, controller, type ControllerOptions, watch } from './index.ts'
import { ControllerFixture } from './fixture.testing.ts'

interface Site extends KubeObject {
  readonly spec: { readonly secret?: string; readonly size?: number }
  readonly status?: { readonly size: number }
}
const Site = defineKind<Site>({ apiVersion: 'example.dev/v1', kind: 'Site' })
const at = (name: string): { readonly name: string; readonly namespace: string } => ({ name, namespace: 'default' })
const seed = (name: string, spec: Site['spec'] = {}, namespace = 'default') =>
  fixture.server.seed(Site, { metadata: { name, namespace }, spec })

let fixture: ControllerFixture
let seen: string[]
beforeEach(() => {
  fixture = new ControllerFixture()
  seen = []
})
afterEach(async () => await fixture.end())

/** A controller that only records the objects it reconciled. */
const looking = (options: Partial<ControllerOptions<Site>> = {}) =>
  controller(Site, {
    plan: ({ object }) => {
      seen.push(object.metadata.name)
      return []
    },
    ...options,
  })

const bug = (): never => {
  throw new Error('a bug')
}

describe('mappings', () => {
  test('a change of a watched kind enqueues the objects of the old and new index values', async () => {
    seed('a', { secret: 'x' })
    seed('b', { secret: 'y' })
    await fixture.start(
      looking({
        indexes: {
          secret: ({ spec, metadata }) => (spec.secret ? [`${metadata.namespace ?? ''}/${spec.secret}`] : []),
        },
        watches: [watch(Secret, byIndex('secret'))],
      }),
    )
    await fixture.settle()
    seen.length = 0
    fixture.server.seed(Secret, { metadata: at('x') })
    await fixture.settle()
    expect(seen).toEqual(['a'])
    fixture.server.unseed(Secret, at('x'))
    await fixture.settle()
    expect(seen).toEqual(['a', 'a'])
  })

  test('a changed label enqueues the old and the new object', async () => {
    seed('a')
    seed('b')
    fixture.server.seed(ConfigMap, { metadata: { ...at('config'), labels: { site: 'a' } } })
    await fixture.start(looking({ watches: [watch(ConfigMap, byLabel('site'))] }))
    await fixture.settle()
    seen.length = 0
    fixture.server.seed(ConfigMap, { metadata: { ...at('config'), labels: { site: 'b' } } })
    await fixture.settle()
    expect(seen.toSorted()).toEqual(['a', 'b'])
  })

  test('a change of an owned object enqueues its controlling owner only', async () => {
    const { metadata } = seed('a')
    seed('b')
    const reference = { apiVersion: 'example.dev/v1', kind: 'Site', name: 'a', uid: metadata.uid }
    await fixture.start(looking({ owns: [ConfigMap] }))
    await fixture.settle()
    seen.length = 0
    fixture.server.seed(ConfigMap, {
      metadata: { ...at('ours'), ownerReferences: [{ ...reference, controller: true }] },
    })
    fixture.server.seed(ConfigMap, { metadata: { ...at('theirs'), ownerReferences: [{ ...reference, name: 'b' }] } })
    fixture.server.seed(ConfigMap, {
      metadata: {
        ...at('other'),
        ownerReferences: [{ ...reference, name: 'b', apiVersion: 'x/v1', controller: true }],
      },
    })
    await fixture.settle()
    expect(seen).toEqual(['a'])
  })

  test('specOrMetadataChanged ignores status changes and accepts annotation changes', async () => {
    seed('a')
    await fixture.start(looking({ predicate: specOrMetadataChanged }))
    await fixture.settle()
    fixture.server.seed(Site, { metadata: at('a'), spec: {}, status: { size: 1 } })
    await fixture.settle()
    expect(seen).toHaveLength(1)
    fixture.server.seed(Site, {
      metadata: { ...at('a'), annotations: { look: 'again' } },
      spec: {},
      status: { size: 1 },
    })
    await fixture.settle()
    expect(seen).toHaveLength(2)
    fixture.server.seed(Site, { metadata: at('a'), spec: { size: 2 }, status: { size: 1 } })
    await fixture.settle()
    expect(seen).toHaveLength(3)
  })

  test('a predicate that throws accepts the change, and a failing onReconciled stops nothing', async () => {
    seed('a')
    await fixture.start(looking({ predicate: bug, onReconciled: bug, concurrency: 1 }))
    await fixture.settle()
    seed('a', { size: 2 })
    await fixture.settle()
    seed('b')
    await fixture.settle()
    expect(seen).toEqual(['a', 'a', 'b'])
    expect(fixture.linesAt('error').map(({ message }) => message)).toContain('onReconciled threw')
  })

  test('resync enqueues all objects without a change', async () => {
    seed('a')
    await fixture.start(looking({ resync: 60_000 }))
    await fixture.settle()
    await fixture.clock.advance(67_000)
    expect(seen).toHaveLength(2)
    await fixture.clock.advance(67_000)
    expect(seen).toHaveLength(3)
  })
})

describe('an object that is gone', () => {
  test('a deleted object is not planned, and its hook is called once even if the name is reused', async () => {
    const gone: ObjectRef[] = []
    const busy = Promise.withResolvers<void>()
    seed('a')
    seed('b')
    await fixture.start(
      controller(Site, {
        concurrency: 1,
        deleted: (ref) => void gone.push(ref),
        plan: ({ object }) => {
          seen.push(object.metadata.uid)
          return [object.metadata.name === 'b' && call('wait', () => busy.promise)]
        },
      }),
    )
    await fixture.until(() => seen.length === 2)
    fixture.server.unseed(Site, at('a'))
    await settle()
    const again = seed('a')
    await settle()
    busy.resolve()
    await fixture.until(() => seen.includes(again.metadata.uid))
    expect(gone).toEqual([at('a')])
    fixture.server.unseed(Site, at('a'))
    await fixture.settle()
    expect(gone).toHaveLength(2)
  })

  test('each deleted object gets its own call, even while an earlier one is running', async () => {
    const calls: PromiseWithResolvers<void>[] = []
    seed('a')
    await fixture.start(
      controller(Site, {
        deleted: () => {
          const call = Promise.withResolvers<void>()
          calls.push(call)
          return call.promise
        },
        plan: ({ object }) => {
          seen.push(object.metadata.uid)
          return []
        },
      }),
    )
    await fixture.until(() => seen.length === 1)
    fixture.server.unseed(Site, at('a'))
    await fixture.until(() => calls.length === 1)
    seed('a')
    fixture.server.unseed(Site, at('a'))
    await settle()
    calls[0]?.resolve()
    await fixture.until(() => calls.length === 2)
    // A call that fails is repeated.
    calls[1]?.reject(new Error('not now'))
    await fixture.until(() => calls.length === 3)
    calls[2]?.resolve()
    await fixture.settle()
    expect(calls).toHaveLength(3)
  })
})

describe('workers', () => {
  test('a key never runs twice at once, concurrency is bounded, and all keys run', async () => {
    const active = new Map<string, number>()
    let most = 0
    let mostOfOne = 0
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`)
    for (const name of names) seed(name)
    const { runner } = await fixture.start(
      controller(Site, {
        concurrency: 3,
        reconcile: async ({ object, signal }) => {
          const { name } = object.metadata
          active.set(name, (active.get(name) ?? 0) + 1)
          most = Math.max(
            most,
            [...active.values()].reduce((sum, count) => sum + count, 0),
          )
          mostOfOne = Math.max(mostOfOne, active.get(name) ?? 0)
          await new Promise<void>((resolve) => void fixture.clock.setTimer(20, resolve))
          expect(signal.aborted).toBe(false)
          active.set(name, (active.get(name) ?? 0) - 1)
          seen.push(name)
        },
      }),
    )
    for (let time = 0; time < 10; time++) {
      for (const name of names) runner.enqueue(`default/${name}`)
      await fixture.clock.advance(7)
    }
    await fixture.until(() => runner.isIdle)
    expect({ most, mostOfOne }).toEqual({ most: 3, mostOfOne: 1 })
    expect(new Set(seen)).toEqual(new Set(names))
  })

  test('a key that is always requeued starves neither other keys nor other namespaces', async () => {
    for (let index = 0; index < 50; index++) seed(`hot${index}`, {}, 'hot')
    seed('cold', {}, 'cold')
    const { runner } = await fixture.start(
      looking({
        concurrency: 1,
        reconcile: async ({ object }) => {
          seen.push(object.metadata.name)
          if (seen.length < 500) runner.enqueue(`hot/${object.metadata.name}`)
          await Promise.resolve()
        },
        plan: undefined as never,
      }),
    )
    await fixture.until(() => seen.includes('cold'))
    expect(seen.indexOf('cold')).toBeLessThan(60)
  })

  test('changes go before the keys of the initial list', async () => {
    for (let index = 0; index < 20; index++) seed(`s${index}`)
    await fixture.start(
      controller(Site, {
        concurrency: 1,
        reconcile: async ({ object }) => {
          seen.push(`${object.metadata.name}/${object.spec.size ?? 0}`)
          if (seen.length === 3) seed('s19', { size: 7 })
          await settle()
        },
      }),
    )
    await fixture.settle()
    expect(seen.indexOf('s19/7')).toBeLessThan(6)
    expect(seen).toHaveLength(20)
  })
})

describe('stopping', () => {
  test('stop waits for running reconciles, starts no others, and leaves no timer', async () => {
    const work = Promise.withResolvers<void>()
    seed('a')
    seed('b')
    const { runner, stop } = await fixture.start(
      controller(Site, {
        concurrency: 1,
        reconcile: async ({ object }) => {
          await work.promise
          seen.push(object.metadata.name)
        },
      }),
    )
    let isStopped = false
    const stopping = stop().then(() => (isStopped = true))
    await fixture.clock.advance(1000)
    expect(isStopped).toBe(false)
    work.resolve()
    await stopping
    expect(seen).toHaveLength(1)
    expect(runner.isIdle).toBe(true)
    expect(fixture.clock.pending).toBe(0)
  })

  test('stop aborts reconciles after the grace period without counting a failure', async () => {
    seed('a')
    const { stop } = await fixture.start(
      controller(Site, {
        reconcile: ({ signal }) =>
          new Promise((_, reject) => {
            seen.push('started')
            signal.addEventListener('abort', () => reject(new Error('aborted')))
          }),
      }),
    )
    await fixture.until(() => seen.length === 1)
    const stopping = stop(500)
    await fixture.clock.advance(500)
    await stopping
    expect([...fixture.linesAt('warn'), ...fixture.linesAt('error')]).toEqual([])
    expect(fixture.clock.pending).toBe(0)
  })

  test('stop without a grace period aborts at once', async () => {
    seed('a')
    const { runner } = await fixture.start(
      controller(Site, {
        reconcile: ({ signal }) =>
          new Promise((resolve) => {
            seen.push('started')
            signal.addEventListener('abort', () => {
              seen.push('aborted')
              resolve()
            })
          }),
      }),
    )
    await fixture.until(() => seen.length === 1)
    const stopping = runner.stop({ grace: 0 })
    expect(seen).toEqual(['started', 'aborted'])
    await stopping
  })

  test('stop does not wait for work that ignores its signal', async () => {
    seed('a')
    const { stop } = await fixture.start(controller(Site, { reconcile: () => new Promise<never>(() => undefined) }))
    await fixture.clock.advance(1)
    const stopping = stop(100)
    await fixture.clock.advance(6_000)
    await stopping
    expect(fixture.linesAt('error')[0]).toMatchObject({ running: 1 })
  })
})

describe('reads and writes', () => {
  test('reading an undeclared kind is a bug with a remedy', async () => {
    seed('a')
    await fixture.start(looking({ plan: ({ read }) => [read(Secret, 'x') && status({ size: 1 })] }))
    await fixture.until(() => fixture.linesAt('error').length > 0)
    expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({
      code: 'TENURE_KIND_UNDECLARED',
      message: expect.stringContaining('Add it to its owns or watches'),
    })
  })

  test('cached objects are shared, and changing one throws', async () => {
    seed('a', { size: 1 })
    await fixture.start(looking({ plan: ({ object }) => Object.assign(object.spec, { size: 2 }) && [] }))
    await fixture.until(() => fixture.linesAt('error').length > 0)
    expect(fixture.linesAt('error')[0]?.['error']).toBeInstanceOf(TypeError)
  })

  test('an imperative reconcile acts, reads its own writes, and returns actions', async () => {
    seed('a', { size: 3 })
    await fixture.start(
      controller(Site, {
        owns: [ConfigMap],
        reconcile: async ({ object, act, owned }) => {
          await act([apply(ConfigMap, { metadata: { name: 'made' }, data: { size: String(object.spec.size) } })])
          seen.push(
            ...owned(ConfigMap).map(({ metadata }) => metadata.name),
            owned(ConfigMap, 'made')?.data?.['size'] ?? '',
          )
          return [status({ size: object.spec.size ?? 0 })]
        },
      }),
    )
    await fixture.until(() => fixture.server.peek(Site, at('a'))?.status?.size === 3)
    expect(seen.slice(0, 2)).toEqual(['made', '3'])
    await fixture.settle()
    expect(fixture.writes).toEqual(['apply configmaps/made', 'apply sites/a/status'])
  })

  test('two statuses in one plan are rejected', async () => {
    seed('a')
    await fixture.start(looking({ plan: () => [status({ size: 1 }), status({ size: 2 })] }))
    await fixture.until(() => fixture.linesAt('error').length > 0)
    expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({ code: 'TENURE_PLAN_TWO_STATUSES' })
    expect(fixture.writes).toEqual([])
  })
})

const plan = () => []

describe('controller', () => {
  test.each<[string, ControllerOptions<Site>, string]>([
    ['no plan', {}, 'does nothing'],
    ['a plan and a reconcile', { plan, reconcile: () => undefined }, 'keep one of them'],
    ['a status beside a reconcile', { reconcile: () => undefined, status: () => undefined }, 'let reconcile return'],
    ['expire without expiresAt', { plan, expire: plan }, 'no expiresAt'],
    ['a finalizer without cleanup', { plan, finalizer: 'a/b' }, 'no cleanup function'],
    ['cleanup without a finalizer', { plan, cleanup: plan }, 'no finalizer'],
    ['a cluster-scoped child', { plan, owns: [Namespace] }, 'cannot own Namespace'],
    ['no workers', { plan, concurrency: 0 }, 'concurrency of at least 1'],
  ])('a definition with %s is rejected', (_, options, message) => {
    expect(() => controller(Site, options)).toThrow(message)
  })
})

test('every reconcile has a span', async () => {
  const spans: unknown[] = []
  seed('a')
  await fixture.start(looking(), {
    tracer: {
      span: (name, attributes, run) => {
        spans.push({ name, ...attributes })
        return run({ set: () => undefined })
      },
    },
  })
  await fixture.settle()
  expect(spans).toEqual([{ name: 'Reconcile', controller: 'site', key: 'default/a' }])
})
