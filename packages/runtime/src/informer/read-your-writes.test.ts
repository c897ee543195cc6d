import {
  Client,
  compareResourceVersions,
  defineKind,
  type ObjectRepresentation,
  type KubeObject,
  mergePatch,
  metadataOf,
  type Stored,
  TenureError,
} from '@tenure/kube'
import { seededRandom, settle, VirtualClock } from '@tenure/kube/testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventModel } from '../testing/event-model.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { refuse } from '../testing/responses.ts'
import type { WatchingInformer } from './informer.ts'
import { SharedInformers } from './shared-informers.ts'

interface Map extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const ConfigMap = defineKind<Map>({ apiVersion: 'v1', kind: 'ConfigMap' })
const NAMES = ['a', 'b'] as const
const ref = (name: string) => ({ namespace: 'default', name })
const map = (name: string, value: string, app: string): Map => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: { app } },
  data: { value, app },
})
const SELECTIONS = {
  no: {},
  'by label': { labelSelector: 'app=web' },
  // The metadata does not tell.
  'by field': { fieldSelector: 'data.app=web' },
} as const
type Filter = keyof typeof SELECTIONS

const name = fc.constantFrom(...NAMES)
const app = fc.constantFrom('web', 'web', 'db')
const slow = fc.boolean()

/** Operations in any order. */
const action = fc.oneof(
  fc.record({ do: fc.constant('our-create' as const), name, app, slow }),
  fc.record({ do: fc.constant('our-patch' as const), name, app, slow }),
  fc.record({ do: fc.constant('our-metadata-patch' as const), name, app, slow }),
  fc.record({ do: fc.constant('our-delete' as const), name, slow }),
  fc.record({ do: fc.constant('our-lost-patch' as const), name, app }),
  fc.record({ do: fc.constant('their-write' as const), name, app }),
  fc.record({ do: fc.constant('their-delete' as const), name }),
  fc.record({ do: fc.constant('deliver' as const), lines: fc.constantFrom(1, 1, 2, 5) }),
  fc.record({ do: fc.constantFrom('drop' as const, 'end' as const, 'bookmark' as const) }),
  fc.record({ do: fc.constantFrom('stall' as const, 'rubbish' as const) }),
  fc.record({
    do: fc.constant('refuse' as const),
    status: fc.constantFrom(429, 500, 503),
    times: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ do: fc.constant('relist' as const) }),
  fc.record({ do: fc.constant('wait' as const), milliseconds: fc.constantFrom(0, 600, 1500, 40_000) }),
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const scenario = fc.record({
  filtered: fc.constantFrom('no' as const, 'by label' as const, 'by field' as const),
  representation: fc.constantFrom('full' as const, 'metadata' as const),
  // If streaming is refused, the informer lists in pages.
  initialEvents: fc.constantFrom('not asked for' as const, 'serve' as const, 'refuse' as const),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  actions: fc.array(action, { minLength: 3, maxLength: 40 }),
})

/** How a watch shows an object: its identity and version, or nothing. */
type View = string
const viewOf = (object: Stored<KubeObject> | undefined): View =>
  object ? `${object.metadata.uid}@${object.metadata.resourceVersion}` : 'none'

const versionOf = async (stored: Promise<Stored<KubeObject>>): Promise<{ revision: number }> => ({
  revision: Number((await stored).metadata.resourceVersion),
})
const byVersion = (a: Stored<KubeObject>, b: Stored<KubeObject>): number =>
  compareResourceVersions(a.metadata.resourceVersion, b.metadata.resourceVersion)

/** The history of each key, and the revision before which the cache may not fall back. */
class Truth {
  readonly #history = new Map<string, { readonly revision: number; readonly view: View }[]>()
  readonly #ends = new Map<string, number>()
  readonly #acknowledged = new Map<string, number>()
  readonly #mayBeMissing = new Set<string>()
  readonly #doubted = new Set<string>()
  readonly #filter: Filter

  constructor(api: MemoryApi, filter: Filter) {
    this.#filter = filter
    for (const each of NAMES) this.#history.set(each, [{ revision: 0, view: 'none' }])
    api.onChange(({ revision, before, after }) => {
      const object = (after ?? before) as unknown as Stored<KubeObject>
      const now = after as unknown as Stored<Map> | undefined
      const view = viewOf(now && this.selects(now) ? now : undefined)
      this.#history.get(object.metadata.name)?.push({ revision, view })
      if (!after) this.#ends.set(object.metadata.uid, revision)
    })
  }

  /**
   * Only the metadata of a write is known: an object selected by other fields stays hidden until the watch delivers it.
   */
  doubt(at: string): void {
    if (this.#filter === 'by field') this.#doubted.add(at)
  }

  selects({ metadata, data }: Stored<Map>): boolean {
    return this.#filter === 'no' || (this.#filter === 'by label' ? metadata.labels : data)?.['app'] === 'web'
  }

  /** `whole` is false if the response held only the metadata: a cache of full objects may have nothing to show. */
  acknowledge(at: string, revision: number, whole: boolean): void {
    if (revision < (this.#acknowledged.get(at) ?? 0)) return
    this.#acknowledged.set(at, revision)
    if (whole) this.#mayBeMissing.delete(at)
    else this.#mayBeMissing.add(at)
  }

  endOf(uid: string | undefined): number {
    return this.#ends.get(uid ?? '') ?? 0
  }

  /** True if this view of a key was valid at some time since the last acknowledged own write to it. */
  allows(at: string, view: View): boolean {
    if (view === 'none' && (this.#mayBeMissing.has(at) || this.#doubted.has(at))) return true
    const since = this.#acknowledged.get(at) ?? 0
    const states = this.#history.get(at) ?? []
    return states.some((state, index) => {
      const until = states[index + 1]?.revision ?? Infinity
      return state.view === view && until > since
    })
  }
}

async function play(run: {
  readonly filtered: Filter
  readonly representation: ObjectRepresentation
  readonly initialEvents: 'not asked for' | 'serve' | 'refuse'
  readonly seed: number
  readonly actions: readonly Action[]
}): Promise<void> {
  const clock = new VirtualClock()
  const asked = run.initialEvents !== 'not asked for'
  const api = new MemoryApi({ clock, expiry: 'status', ...(asked && { initialEvents: run.initialEvents }) })
  const random = seededRandom(run.seed)
  const client = new Client({ transport: api, clock, random, retry: { attempts: 1 } })
  const informers = new SharedInformers({ api: client, clock, random, freeze: true, pageSize: 1, initialEvents: asked })
  const kind = run.representation === 'full' ? ConfigMap : metadataOf(ConfigMap)
  const informer = informers.informer(kind, SELECTIONS[run.filtered]) as WatchingInformer<Map>
  const truth = new Truth(api, run.filtered)
  const model = new EventModel(informer)
  const stop = new AbortController()
  const violations: string[] = []
  const check = (when: string): void => {
    for (const each of NAMES) {
      const view = viewOf(informer.cache.get(ref(each)))
      if (!truth.allows(each, view)) violations.push(`${each} is shown as ${view} ${when}`)
    }
  }
  informer.subscribe(() => check('in an event'))
  informers.start(stop.signal)
  await informer.whenSynced()

  let isSlow = false
  let losesAnswer = false
  // Pages arrive slowly, so that writes happen between them.
  api.delayResponses(({ verb }) => (verb === 'list' ? 300 : isSlow && verb !== 'watch' ? 1000 : 0))
  api.intercept(({ verb }) => (losesAnswer && verb === 'patch' ? 'drop-response' : undefined))
  let refusal = { status: 500, left: 0 }
  api.intercept(({ verb }) => {
    if ((verb !== 'list' && verb !== 'watch') || refusal.left === 0) return undefined
    refusal.left--
    return refuse(refusal.status, 'No')
  })
  api.holdWatches()
  let value = 0
  const ours = async (at: string, whole: boolean, write: () => Promise<{ revision: number }>): Promise<void> => {
    try {
      const { revision } = await write()
      truth.acknowledge(at, revision, whole)
      check(`right after our write at ${revision}`)
    } catch (error) {
      // Another writer was first, or the response was lost: there is no acknowledged write to remember.
      const code = error instanceof TenureError ? error.code : String(error)
      if (!/^TENURE_(API_(NOT_FOUND|ALREADY_EXISTS|CONFLICT)|CONNECTION_LOST)$/.test(code)) violations.push(code)
    }
  }
  const patchOf = (label: string) =>
    mergePatch({ metadata: { labels: { app: label } }, data: { value: String(++value), app: label } })
  const pending: Promise<void>[] = []
  const act = async (each: Action): Promise<void> => {
    isSlow = 'slow' in each && each.slow
    losesAnswer = each.do === 'our-lost-patch'
    switch (each.do) {
      case 'our-create':
        pending.push(
          ours(each.name, true, () => versionOf(client.create(ConfigMap, map(each.name, String(++value), each.app)))),
        )
        break
      case 'our-patch':
      case 'our-lost-patch':
        pending.push(ours(each.name, true, () => versionOf(client.patch(ConfigMap, ref(each.name), patchOf(each.app)))))
        break
      case 'our-metadata-patch':
        truth.doubt(each.name)
        pending.push(
          ours(each.name, false, () =>
            versionOf(client.patch(metadataOf(ConfigMap), ref(each.name), patchOf(each.app))),
          ),
        )
        break
      case 'our-delete': {
        // Own deletions are conditional on the object that was read.
        const uid = informer.cache.get(ref(each.name))?.metadata.uid
        if (uid === undefined) break
        pending.push(
          ours(each.name, true, async () => {
            const result = await client.delete(ConfigMap, ref(each.name), { preconditions: { uid } })
            return { revision: result.gone ? truth.endOf(result.uid) : 0 }
          }),
        )
        break
      }
      case 'their-write':
        api.seed(ConfigMap, map(each.name, String(++value), each.app))
        break
      case 'their-delete':
        api.unseed(ConfigMap, ref(each.name))
        break
      case 'deliver':
        api.releaseWatches(each.lines)
        break
      case 'drop':
        api.dropWatches()
        break
      case 'end':
        api.endWatches()
        break
      case 'relist': {
        // The history is gone, and the new list has started but not arrived.
        api.seed(ConfigMap, map('unrelated', String(++value), 'db'))
        api.compact()
        api.dropWatches()
        const before = api.requests.length
        const begun = (): boolean =>
          api.requests.slice(before).some(({ verb, query }) => verb === 'list' || query['sendInitialEvents'])
        for (let step = 0; step < 100 && !begun(); step++) await clock.advance(100)
        break
      }
      case 'stall':
        api.stallWatches()
        break
      case 'rubbish':
        api.injectWatchLine('{"type":"ADDED","object":')
        break
      case 'refuse':
        refusal = { status: each.status, left: each.times }
        break
      case 'bookmark':
        api.sendBookmarks()
        break
      case 'wait':
        await clock.advance(each.milliseconds)
        break
    }
    await settle()
    check(`after ${JSON.stringify(each)}`)
  }
  for (const each of run.actions) await act(each)
  expect(violations).toEqual([])

  // Finally everything arrives.
  isSlow = false
  api.releaseWatches()
  await clock.advance(1_200_000)
  await Promise.all(pending)
  check('at the end')
  expect(violations).toEqual([])
  const expected = api
    .objects(ConfigMap)
    .filter((object) => truth.selects(object))
    .map((object) => (run.representation === 'full' ? object : { ...object, data: undefined }))
  expect(informer.cache.list().toSorted(byVersion)).toEqual(expected.toSorted(byVersion))
  expect([...model.objects.values()].toSorted(byVersion)).toEqual(expected.toSorted(byVersion))
  expect(model.problems).toEqual([])
  expect(informer.unconfirmedWrites).toBe(0)
  stop.abort(new Error('stop'))
  await settle()
  await informers.whenStopped()
  expect({ timers: clock.pending, watches: api.openWatches }).toEqual({ timers: 0, watches: 0 })
}

describe('read your writes', () => {
  test(
    'the cache never falls behind own writes in any interleaving of writes, events, watches and lists',
    { timeout: 120_000 },
    async () => {
      expect.hasAssertions()
      await fc.assert(fc.asyncProperty(scenario, play), { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 400) })
    },
  )
})
