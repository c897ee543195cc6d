import { defineKind, type KubeObject, type ObjectRef } from '@tenure/kube'
import { settle } from '@tenure/kube/testing'
import { ConfigMap, Namespace, Secret } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, call, status } from '../actions/index.ts'
import { byIndex, byLabel, specOrMetadataChanged, controller, type ControllerOptions, watch } from './index.ts'
import { World } from './fixture.testing.ts'

interface Site extends KubeObject {
  readonly spec: { readonly secret?: string; readonly size?: number }
  readonly status?: { readonly size: number }
}
const Site = defineKind<Site>({ apiVersion: 'example.dev/v1', kind: 'Site' })
const at = (name: string): { readonly name: string; readonly namespace: string } => ({ name, namespace: 'default' })
const seed = (name: string, spec: Site['spec'] = {}, namespace = 'default') =>
  world.server.seed(Site, { metadata: { name, namespace }, spec })

let world: World
let seen: string[]
beforeEach(() => {
  world = new World()
  seen = []
})
afterEach(async () => await world.end())

/** A controller that only notes what it looked at. */
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

describe('which changes lead to which objects', () => {
  test('a watched kind by an index, old and new', async () => {
    seed('a', { secret: 'x' })
    seed('b', { secret: 'y' })
    await world.start(
      looking({
        indexes: {
          secret: ({ spec, metadata }) => (spec.secret ? [`${metadata.namespace ?? ''}/${spec.secret}`] : []),
        },
        watches: [watch(Secret, byIndex('secret'))],
      }),
    )
    await world.settle()
    seen.length = 0
    world.server.seed(Secret, { metadata: at('x') })
    await world.settle()
    expect(seen).toEqual(['a'])
    world.server.unseed(Secret, at('x'))
    await world.settle()
    expect(seen).toEqual(['a', 'a'])
  })

  test('a watched kind by a label: who lost it and who got it', async () => {
    seed('a')
    seed('b')
    world.server.seed(ConfigMap, { metadata: { ...at('config'), labels: { site: 'a' } } })
    await world.start(looking({ watches: [watch(ConfigMap, byLabel('site'))] }))
    await world.settle()
    seen.length = 0
    world.server.seed(ConfigMap, { metadata: { ...at('config'), labels: { site: 'b' } } })
    await world.settle()
    expect(seen.toSorted()).toEqual(['a', 'b'])
  })

  test('an owned kind by its controlling owner only', async () => {
    const { metadata } = seed('a')
    seed('b')
    const reference = { apiVersion: 'example.dev/v1', kind: 'Site', name: 'a', uid: metadata.uid }
    await world.start(looking({ owns: [ConfigMap] }))
    await world.settle()
    seen.length = 0
    world.server.seed(ConfigMap, { metadata: { ...at('ours'), ownerReferences: [{ ...reference, controller: true }] } })
    world.server.seed(ConfigMap, { metadata: { ...at('theirs'), ownerReferences: [{ ...reference, name: 'b' }] } })
    world.server.seed(ConfigMap, {
      metadata: {
        ...at('other'),
        ownerReferences: [{ ...reference, name: 'b', apiVersion: 'x/v1', controller: true }],
      },
    })
    await world.settle()
    expect(seen).toEqual(['a'])
  })

  test('with specOrMetadataChanged a status alone does not count, an annotation does', async () => {
    seed('a')
    await world.start(looking({ predicate: specOrMetadataChanged }))
    await world.settle()
    world.server.seed(Site, { metadata: at('a'), spec: {}, status: { size: 1 } })
    await world.settle()
    expect(seen).toHaveLength(1)
    world.server.seed(Site, { metadata: { ...at('a'), annotations: { look: 'again' } }, spec: {}, status: { size: 1 } })
    await world.settle()
    expect(seen).toHaveLength(2)
    world.server.seed(Site, { metadata: at('a'), spec: { size: 2 }, status: { size: 1 } })
    await world.settle()
    expect(seen).toHaveLength(3)
  })

  test('all of them, if the function that tells throws, and reports that fail stop nothing', async () => {
    seed('a')
    await world.start(looking({ predicate: bug, onReconciled: bug, concurrency: 1 }))
    await world.settle()
    seed('a', { size: 2 })
    await world.settle()
    seed('b')
    await world.settle()
    expect(seen).toEqual(['a', 'a', 'b'])
    expect(world.linesAt('error').map(({ message }) => message)).toContain('onReconciled threw')
  })

  test('nothing at all, with resync', async () => {
    seed('a')
    await world.start(looking({ resync: 60_000 }))
    await world.settle()
    await world.clock.advance(67_000)
    expect(seen).toHaveLength(2)
    await world.clock.advance(67_000)
    expect(seen).toHaveLength(3)
  })
})

describe('an object that is gone', () => {
  test('is not planned for; the deleted hook is told once, also if another has its name already', async () => {
    const gone: ObjectRef[] = []
    const busy = Promise.withResolvers<void>()
    seed('a')
    seed('b')
    await world.start(
      controller(Site, {
        concurrency: 1,
        deleted: (ref) => void gone.push(ref),
        plan: ({ object }) => {
          seen.push(object.metadata.uid)
          return [object.metadata.name === 'b' && call('wait', () => busy.promise)]
        },
      }),
    )
    await world.until(() => seen.length === 2)
    world.server.unseed(Site, at('a'))
    await settle()
    const again = seed('a')
    await settle()
    busy.resolve()
    await world.until(() => seen.includes(again.metadata.uid))
    expect(gone).toEqual([at('a')])
    world.server.unseed(Site, at('a'))
    await world.settle()
    expect(gone).toHaveLength(2)
  })

  test('has a call of its own, also if the one before it still waits for the end of another', async () => {
    const calls: PromiseWithResolvers<void>[] = []
    seed('a')
    await world.start(
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
    await world.until(() => seen.length === 1)
    world.server.unseed(Site, at('a'))
    await world.until(() => calls.length === 1)
    seed('a')
    world.server.unseed(Site, at('a'))
    await settle()
    calls[0]?.resolve()
    await world.until(() => calls.length === 2)
    // One that fails is made again.
    calls[1]?.reject(new Error('not now'))
    await world.until(() => calls.length === 3)
    calls[2]?.resolve()
    await world.settle()
    expect(calls).toHaveLength(3)
  })
})

describe('workers', () => {
  test('never two on one key, never more than allowed, all of it done', async () => {
    const active = new Map<string, number>()
    let most = 0
    let mostOfOne = 0
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`)
    for (const name of names) seed(name)
    const { runner } = await world.start(
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
          await new Promise<void>((resolve) => void world.clock.setTimer(20, resolve))
          expect(signal.aborted).toBe(false)
          active.set(name, (active.get(name) ?? 0) - 1)
          seen.push(name)
        },
      }),
    )
    for (let time = 0; time < 10; time++) {
      for (const name of names) runner.enqueue(`default/${name}`)
      await world.clock.advance(7)
    }
    await world.until(() => runner.isIdle)
    expect({ most, mostOfOne }).toEqual({ most: 3, mostOfOne: 1 })
    expect(new Set(seen)).toEqual(new Set(names))
  })

  test('a key that is always there again does not starve the others, nor one namespace another', async () => {
    for (let index = 0; index < 50; index++) seed(`hot${index}`, {}, 'hot')
    seed('cold', {}, 'cold')
    const { runner } = await world.start(
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
    await world.until(() => seen.includes('cold'))
    expect(seen.indexOf('cold')).toBeLessThan(60)
  })

  test('what changes while the initial list is worked off goes first', async () => {
    for (let index = 0; index < 20; index++) seed(`s${index}`)
    await world.start(
      controller(Site, {
        concurrency: 1,
        reconcile: async ({ object }) => {
          seen.push(`${object.metadata.name}/${object.spec.size ?? 0}`)
          if (seen.length === 3) seed('s19', { size: 7 })
          await settle()
        },
      }),
    )
    await world.settle()
    expect(seen.indexOf('s19/7')).toBeLessThan(6)
    expect(seen).toHaveLength(20)
  })
})

describe('stopping', () => {
  test('lets what runs end, starts nothing more, and leaves no timer', async () => {
    const work = Promise.withResolvers<void>()
    seed('a')
    seed('b')
    const { runner, stop } = await world.start(
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
    await world.clock.advance(1000)
    expect(isStopped).toBe(false)
    work.resolve()
    await stopping
    expect(seen).toHaveLength(1)
    expect(runner.isIdle).toBe(true)
    expect(world.clock.pending).toBe(0)
  })

  test('aborts what does not end within the grace, without calling that a failure', async () => {
    seed('a')
    const { stop } = await world.start(
      controller(Site, {
        reconcile: ({ signal }) =>
          new Promise((_, reject) => {
            seen.push('started')
            signal.addEventListener('abort', () => reject(new Error('aborted')))
          }),
      }),
    )
    await world.until(() => seen.length === 1)
    const stopping = stop(500)
    await world.clock.advance(500)
    await stopping
    expect([...world.linesAt('warn'), ...world.linesAt('error')]).toEqual([])
    expect(world.clock.pending).toBe(0)
  })

  test('without a grace aborts in that very moment', async () => {
    seed('a')
    const { runner } = await world.start(
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
    await world.until(() => seen.length === 1)
    const stopping = runner.stop({ grace: 0 })
    expect(seen).toEqual(['started', 'aborted'])
    await stopping
  })

  test('does not wait for ever for work that heeds nothing', async () => {
    seed('a')
    const { stop } = await world.start(controller(Site, { reconcile: () => new Promise<never>(() => undefined) }))
    await world.clock.advance(1)
    const stopping = stop(100)
    await world.clock.advance(6_000)
    await stopping
    expect(world.linesAt('error')[0]).toMatchObject({ running: 1 })
  })
})

describe('what a controller may read and write', () => {
  test('an undeclared kind is a bug that says what to do', async () => {
    seed('a')
    await world.start(looking({ plan: ({ read }) => [read(Secret, 'x') && status({ size: 1 })] }))
    await world.until(() => world.linesAt('error').length > 0)
    expect(world.linesAt('error')[0]?.['error']).toMatchObject({
      code: 'TENURE_KIND_UNDECLARED',
      message: expect.stringContaining('Add it to its owns or watches'),
    })
  })

  test('cached objects are shared, and changing one throws', async () => {
    seed('a', { size: 1 })
    await world.start(looking({ plan: ({ object }) => Object.assign(object.spec, { size: 2 }) && [] }))
    await world.until(() => world.linesAt('error').length > 0)
    expect(world.linesAt('error')[0]?.['error']).toBeInstanceOf(TypeError)
  })

  test('an imperative reconcile acts, reads its own writes, and returns actions', async () => {
    seed('a', { size: 3 })
    await world.start(
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
    await world.until(() => world.server.peek(Site, at('a'))?.status?.size === 3)
    expect(seen.slice(0, 2)).toEqual(['made', '3'])
    await world.settle()
    expect(world.writes).toEqual(['apply configmaps/made', 'apply sites/a/status'])
  })

  test('two statuses in one plan are refused', async () => {
    seed('a')
    await world.start(looking({ plan: () => [status({ size: 1 }), status({ size: 2 })] }))
    await world.until(() => world.linesAt('error').length > 0)
    expect(world.linesAt('error')[0]?.['error']).toMatchObject({ code: 'TENURE_PLAN_TWO_STATUSES' })
    expect(world.writes).toEqual([])
  })
})

const plan = () => []

describe('a definition that can not work is refused when it is made', () => {
  test.each<[string, ControllerOptions<Site>, string]>([
    ['no plan', {}, 'does nothing'],
    ['both', { plan, reconcile: () => undefined }, 'give it one of them'],
    ['a status beside a reconcile', { reconcile: () => undefined, status: () => undefined }, 'let reconcile return'],
    ['expire without expiresAt', { plan, expire: plan }, 'no expiresAt'],
    ['a finalizer without cleanup', { plan, finalizer: 'a/b' }, 'no cleanup function'],
    ['cleanup without a finalizer', { plan, cleanup: plan }, 'no finalizer'],
    ['a cluster-scoped child', { plan, owns: [Namespace] }, 'cannot own Namespace'],
    ['no workers', { plan, concurrency: 0 }, 'concurrency of at least 1'],
  ])('%s', (_, options, complaint) => {
    expect(() => controller(Site, options)).toThrow(complaint)
  })
})

test('a tracer sees every reconcile', async () => {
  const spans: unknown[] = []
  seed('a')
  await world.start(looking(), {
    tracer: {
      span: (name, attributes, run) => {
        spans.push({ name, ...attributes })
        return run({ set: () => undefined })
      },
    },
  })
  await world.settle()
  expect(spans).toEqual([{ name: 'Reconcile', controller: 'site', key: 'default/a' }])
})
