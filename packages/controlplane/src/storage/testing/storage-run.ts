import assert from 'node:assert/strict'
import { systemClock } from '@tenure/kube'
import { silentLogger } from '@tenure/runtime'
import fc from 'fast-check'
import { openStorage } from '../open.ts'
import { StorageModel } from './storage-model.ts'
import { configMap, line, valueOf } from './storage.ts'
import { RevisionCompacted, type RangeOptions, type Storage } from '../types.ts'

const RESOURCES = ['configmaps', 'leases.coordination.k8s.io']
const resource = fc.constantFrom(...RESOURCES)
const namespace = fc.constantFrom('a', 'a-b', 'b')
const name = fc.constantFrom('x', 'y', 'z', '__proto__')
const key = fc.tuple(namespace, name).map(([of, name]) => `${of}/${name}`)
/** A revision, as a fraction of all revisions so far. */
const share = fc.double({ min: 0, max: 1, noNaN: true })
const onePut = fc.record({ type: fc.constant('put' as const), resource, key, value: fc.string({ maxLength: 8 }) })
const oneRemove = fc.record({ type: fc.constant('remove' as const), resource, key })
const oneKeep = fc.record({ type: fc.constant('keep' as const), resource, key })
const oneRefusal = fc.record({ type: fc.constant('refuse' as const), resource, key })

/** An operation on a storage. */
export const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('burst' as const),
      writes: fc.array(fc.oneof(onePut, onePut, oneRemove, oneKeep, oneRefusal), { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('watch' as const), resource, share }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('range' as const),
      resource,
      share: fc.option(share, { nil: undefined }),
      namespace: fc.option(namespace, { nil: undefined }),
      after: fc.option(key, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('compact' as const), share }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reopen' as const) }) },
)

export type StorageCommand = typeof command extends fc.Arbitrary<infer C> ? C : never
type Write = Extract<StorageCommand, { type: 'burst' }>['writes'][number]

interface Watch {
  readonly resource: string
  readonly from: number
  readonly lines: string[]
  readonly stop: () => void
}

/** Runs commands on a storage and on the model. */
export class StorageRun {
  readonly #model = new StorageModel()
  readonly #directory: string | undefined
  readonly #historyLimit: number
  #storage: Storage
  #watches: Watch[] = []

  constructor(storage: Storage, directory: string | undefined, historyLimit: number) {
    this.#storage = storage
    this.#directory = directory
    this.#historyLimit = historyLimit
  }

  static async start(directory: string | undefined, historyLimit: number): Promise<StorageRun> {
    return new StorageRun(await openAt(directory, historyLimit), directory, historyLimit)
  }

  async run(command: StorageCommand): Promise<void> {
    switch (command.type) {
      case 'burst':
        await this.#burst(command.writes)
        break
      case 'watch':
        this.#watch(command.resource, this.#revisionAt(command.share))
        break
      case 'range':
        this.#range(command.resource, {
          at: command.share === undefined ? undefined : this.#revisionAt(command.share),
          namespace: command.namespace,
          after: command.after,
        })
        break
      case 'compact':
        this.#storage.compact(this.#revisionAt(command.share))
        this.#model.oldest = Math.max(this.#model.oldest, this.#revisionAt(command.share))
        break
      case 'reopen':
        await this.#reopen()
        break
      default:
        command satisfies never
    }
    this.#checkState()
  }

  async end(): Promise<void> {
    await this.#reopen()
    this.#checkState()
    await this.#storage.close()
  }

  // All at once: later writes are decided on earlier ones that are not durable yet.
  async #burst(writes: readonly Write[]): Promise<void> {
    const outcomes = writes.map((write) => this.#write(write))
    for (const [expected, actual] of outcomes) assert.equal(await actual, expected)
    this.#forgetBeyondLimit()
  }

  #write(write: Write): readonly [expected: string, actual: Promise<string>] {
    const { resource, key } = write
    const current = this.#model.state(resource).get(key)
    let expected: string
    if (write.type === 'put') expected = `stored ${write.value} ${this.#model.write(resource, key, write.value)}`
    else if (!current || write.type === 'refuse') expected = `refused at ${current?.revision}`
    else if (write.type === 'keep') expected = `stored ${current.value} ${current.revision}`
    else expected = `stored ${current.value} ${this.#model.write(resource, key, undefined)}`
    const actual = this.#storage.write(resource, key, (seen) => {
      if (write.type === 'put') return { put: configMap(key, write.value) }
      if (!seen || write.type === 'refuse') throw new Error(`refused at ${seen?.revision}`)
      return write.type === 'keep' ? { keep: true } : { remove: true }
    })
    return [
      expected,
      actual.then(
        ({ stored }) => `stored ${valueOf(stored.object)} ${stored.revision}`,
        (error: Error) => error.message,
      ),
    ]
  }

  #watch(resource: string, from: number): void {
    const lines: string[] = []
    try {
      const stop = this.#storage.watch(resource, from, (change) => lines.push(line(change)))
      assert.ok(from >= this.#model.oldest)
      this.#watches.push({ resource, from, lines, stop })
    } catch (error) {
      this.#expectCompacted(error, from)
    }
  }

  #range(resource: string, options: RangeOptions): void {
    try {
      const actual = Array.from(
        this.#storage.range(resource, options),
        ({ key, object, revision }) => `${key}=${valueOf(object)}@${revision}`,
      )
      const { at = this.#model.revision, namespace, after } = options
      assert.ok(at >= this.#model.oldest)
      assert.deepEqual(actual, this.#model.range(resource, { at, namespace, after }))
    } catch (error) {
      this.#expectCompacted(error, options.at ?? Number.NaN)
    }
  }

  #expectCompacted(error: unknown, revision: number): void {
    if (!(error instanceof RevisionCompacted)) throw error
    assert.equal(error.oldest, this.#model.oldest)
    assert.ok(revision < error.oldest)
  }

  async #reopen(): Promise<void> {
    this.#checkState()
    if (this.#directory === undefined) return
    await this.#storage.close()
    this.#watches = []
    this.#storage = await openAt(this.#directory, this.#historyLimit)
  }

  #checkState(): void {
    assert.equal(this.#storage.revision, this.#model.revision)
    for (const { resource, from, lines } of this.#watches) {
      assert.deepEqual(lines, this.#model.watch(resource, from, this.#model.revision))
    }
    const filled = RESOURCES.filter((resource) => this.#model.state(resource).size > 0)
    assert.deepEqual([...this.#storage.resources()].toSorted(), filled)
    for (const resource of RESOURCES) {
      const state = this.#model.state(resource)
      assert.equal(this.#storage.count(resource), state.size)
      assert.equal(this.#storage.count(resource, 'a'), this.#model.range(resource, { namespace: 'a' }).length)
      for (const { key, value, revision } of state.values()) {
        const stored = this.#storage.get(resource, key)
        assert.deepEqual(JSON.parse(stored?.json ?? ''), stored?.object)
        assert.deepEqual(stored && [valueOf(stored.object), stored.revision], [value, revision])
      }
    }
  }

  #forgetBeyondLimit(): void {
    const first = this.#model.changes.at(-this.#historyLimit - 1)
    if (first) this.#model.oldest = Math.max(this.#model.oldest, first.revision)
  }

  #revisionAt(share: number): number {
    return 1 + Math.round(share * (this.#model.revision - 1))
  }
}

function openAt(directory: string | undefined, changes: number): Promise<Storage> {
  return openStorage({ directory, clock: systemClock, log: silentLogger, history: { changes } })
}
