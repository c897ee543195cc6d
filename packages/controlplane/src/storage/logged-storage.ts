import { asError, TenureError, type Clock } from '@tenure/kube'
import { StatusError } from '../errors.ts'
import { checkStoredSize } from '../model/object-size.ts'
import type { VersionChange } from './memory/bucket.ts'
import { Deque } from './memory/deque.ts'
import { HistoryWindow, type HistoryLimits } from './memory/history-window.ts'
import type { ChangeLog, ChangeLogListener } from './change-log.ts'
import type { MemoryView } from './memory/memory-view.ts'
import type { Change, WriteDecision, RangeOptions, Storage, StoredObject, Written } from './types.ts'
import { Tombstone, Version } from './memory/version.ts'

/** Above this many pending writes, new ones are refused: clients retry, whereas memory runs out. */
const MAX_PENDING_WRITES = 65_536

interface Settler {
  done(): void
  failed(error: Error): void
}

/** A write that is decided but not durable. */
interface Pending extends Settler {
  readonly id: string
  readonly change: VersionChange
  readonly state: Version | Tombstone
  /** Decisions that depend on this write. */
  dependents: Settler[] | undefined
}

export interface LoggedStorageOptions {
  readonly view: MemoryView
  /** Makes the log that receives the writes. */
  readonly log: (listener: ChangeLogListener) => ChangeLog
  readonly clock: Clock
  readonly history: HistoryLimits
}

/**
 * Decides writes on the head, the state that includes writes that are not durable, and makes each visible when the log
 * has it. When the log fails, the head is reset to the visible state.
 */
export class LoggedStorage implements Storage {
  readonly #view: MemoryView
  readonly #log: ChangeLog
  readonly #window: HistoryWindow
  readonly #pending = new Deque<Pending>()
  /** The newest write that is not durable, by resource and key. */
  readonly #head = new Map<string, Pending>()
  #headRevision: number
  #idle: (() => void) | undefined
  #closed: Promise<void> | undefined

  constructor({ view, log, clock, history }: LoggedStorageOptions) {
    this.#view = view
    this.#headRevision = view.revision
    this.#window = new HistoryWindow(clock, history, view.revision)
    this.#log = log({
      durable: (revision) => this.#onDurable(revision),
      failed: (error) => this.#onFailed(error),
    })
  }

  get revision(): number {
    return this.#view.revision
  }

  get(resource: string, key: string): StoredObject | undefined {
    return this.#view.get(resource, key)
  }

  range(resource: string, options?: RangeOptions): Iterable<StoredObject> {
    return this.#view.range(resource, options)
  }

  count(resource: string, namespace?: string): number {
    return this.#view.count(resource, namespace)
  }

  resources(): readonly string[] {
    return this.#view.resources()
  }

  watch(resource: string, from: number, listener: (change: Change) => void): () => void {
    return this.#view.watch(resource, from, listener)
  }

  write<R = undefined>(
    resource: string,
    key: string,
    decide: (current: StoredObject | undefined) => WriteDecision<R>,
  ): Promise<Written<R>> {
    return new Promise((resolve, reject) => {
      this.#refuseIfUnable()
      const id = `${resource}/${key}`
      const pending = this.#head.get(id)
      const current = pending
        ? pending.state instanceof Version
          ? pending.state
          : undefined
        : this.#view.get(resource, key)
      const revision = this.#headRevision + 1
      let decision: WriteDecision<R>
      let version: Version | undefined
      try {
        decision = decide(current)
        version = 'put' in decision ? storable(Version.ofObject(key, revision, decision.put)) : undefined
      } catch (error) {
        settleWith(pending, { done: () => reject(asError(error)), failed: reject })
        return
      }
      const { result } = decision
      if ('keep' in decision) {
        const stored = existing(current, resource, key)
        settleWith(pending, { done: () => resolve({ stored, result }), failed: reject })
        return
      }
      const change = version
        ? putChange(resource, version, current)
        : removeChange(resource, new Tombstone(revision, existing(current, resource, key)))
      this.#log.append(change)
      this.#headRevision = revision
      const state = change.current ?? change.deleted
      const next: Pending = {
        id,
        change,
        state,
        dependents: undefined,
        done: () => resolve({ stored: state, result }),
        failed: reject,
      }
      this.#head.set(id, next)
      this.#pending.push(next)
    })
  }

  compact(revision: number): void {
    this.#forget(revision)
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    if (this.#pending.length > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    await this.#log.close()
    this.#view.close()
  }

  #refuseIfUnable(): void {
    if (this.#closed) throw new StatusError(503, 'ServiceUnavailable', 'The storage is closed.')
    if (this.#pending.length < MAX_PENDING_WRITES) return
    throw new StatusError(429, 'TooManyRequests', 'Too many writes wait for the disk. Try again later.', {
      retryAfterSeconds: 1,
    })
  }

  #onDurable(revision: number): void {
    for (let next = this.#pending.first; next && next.change.revision <= revision; next = this.#pending.first) {
      this.#pending.shift()
      if (this.#head.get(next.id) === next) this.#head.delete(next.id)
      this.#view.apply(next.change)
      next.done()
      for (const dependent of next.dependents ?? []) dependent.done()
    }
    this.#forget(this.#window.startOf(this.#view))
    this.#reportIdle()
  }

  #onFailed(error: Error): void {
    const lost = this.#pending.drain()
    this.#head.clear()
    this.#headRevision = this.#view.revision
    for (const pending of lost) {
      pending.failed(error)
      for (const dependent of pending.dependents ?? []) dependent.failed(error)
    }
    this.#reportIdle()
  }

  #forget(revision: number): void {
    const before = this.#view.oldest
    const superseded = this.#view.forget(revision)
    if (this.#view.oldest > before) this.#log.forget(this.#view.oldest, superseded)
  }

  #reportIdle(): void {
    if (this.#pending.length === 0) this.#idle?.()
  }
}

/**
 * A no-op write and a refusal are answered when the state they were decided on is durable: a client that receives a
 * conflict must be able to read the state that caused it.
 */
function settleWith(pending: Pending | undefined, settler: Settler): void {
  if (pending) (pending.dependents ??= []).push(settler)
  else settler.done()
}

/** The version, if it is not too large. */
function storable(version: Version): Version {
  checkStoredSize(version.json)
  return version
}

type Put = VersionChange & { readonly current: Version }
type Removal = VersionChange & { readonly current: undefined; readonly deleted: Tombstone }

function putChange(resource: string, current: Version, previous: Version | undefined): Put {
  const { revision, key } = current
  return { revision, resource, key, previous, current, deleted: undefined, size: previous?.size ?? 0 }
}

function removeChange(resource: string, deleted: Tombstone): Removal {
  return {
    revision: deleted.revision,
    resource,
    key: deleted.key,
    previous: deleted.older,
    current: undefined,
    deleted,
    size: deleted.older.size,
  }
}

function existing(current: Version | undefined, resource: string, key: string): Version {
  if (current) return current
  throw new TenureError(
    'TENURE_STORAGE_NOTHING_THERE',
    `${resource} ${key} does not exist: it cannot be kept or removed.`,
    {
      fate: 'bug',
    },
  )
}
