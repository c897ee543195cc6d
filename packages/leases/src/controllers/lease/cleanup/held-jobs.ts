import {
  ApiError,
  asError,
  compareResourceVersions,
  isNotFound,
  isRefusedAsIs,
  keyOf,
  mergePatch,
  type PartialObjectMetadata,
} from '@tenure/kube'
import { Job } from '@tenure/kube/kinds'
import { type Cache, WorkQueue } from '@tenure/runtime'
import { JOB_LABELS } from '../../../api/labels.ts'
import { type Leased, planFor, type LeaseContext } from '../context.ts'
import { type HeldJob, isNeeded } from './job-source.ts'

type Context = Pick<LeaseContext, 'api' | 'rollbackGuard' | 'clock' | 'kind' | 'log' | 'settings'>

interface Entry {
  readonly job: HeldJob
  /** Of the object. */
  readonly key: string
  /** The object's resourceVersion when it needed the job: what is older says nothing about it. */
  since: string | undefined
  /** Undefined: it is needed, until the object changes. */
  todo: 'check' | 'release' | undefined
}

/** Few: leases come first. */
const AT_ONCE = 4
const BACKOFF = { base: 1_000, max: 300_000 }

/**
 * The jobs that stay after their end, and letting go of those that nothing needs any more: only then does their `job-ttl`
 * count. A job that the server cleared away before its end was written on the object would be made again by who comes
 * after us, however late; so the server may not clear it away before. All this happens beside the leases, which never
 * wait for it: what it does not get to, the next process finds at its start.
 */
export class HeldJobs {
  readonly #context: Context
  readonly #cache: Cache<PartialObjectMetadata>
  readonly #queue: WorkQueue
  /** By the job's key. */
  readonly #entries = new Map<string, Entry>()
  /** The keys of an object's jobs, by its own. */
  readonly #byObject = new Map<string, Set<string>>()

  constructor(context: Context, cache: Cache<PartialObjectMetadata>) {
    this.#context = context
    this.#cache = cache
    this.#queue = new WorkQueue({ clock: context.clock, name: 'held cleanup jobs', backoff: BACKOFF })
  }

  /** `object`, as it was read, needs a job that there is, or may soon be. */
  hold(key: string, object: Leased, job: HeldJob): void {
    this.#put({ key, job, since: object.metadata.resourceVersion, todo: undefined })
  }

  /** Somebody before us made a job. Whether it is needed is for the object as it is now to say. */
  found(key: string, job: HeldJob): void {
    if (!this.#entries.has(keyOf(job.ref))) this.#check(this.#put({ key, job, since: undefined, todo: undefined }))
  }

  /** There is no such job. */
  drop({ ref }: HeldJob): void {
    this.#remove(this.#entries.get(keyOf(ref)))
  }

  /** An object is so now, or was when it was read. */
  see(key: string, object: Leased): void {
    for (const entry of this.#of(key)) {
      const isOlder =
        entry.since === undefined || compareResourceVersions(object.metadata.resourceVersion, entry.since) < 0
      if (!isOlder && !this.#isNeeded(entry, object)) this.#release(entry)
    }
  }

  /** An object is gone. */
  gone(key: string, uid: string): void {
    for (const entry of this.#of(key)) if (entry.job.source.uid === uid) this.#release(entry)
  }

  /** The work on an object is over for now: what the cache was told meanwhile has been forgotten by a `hold` after it. */
  settle(key: string): void {
    const cached = this.#cache.getByKey(key)
    if (cached) this.see(key, cached)
    else for (const entry of this.#of(key)) if (entry.todo !== 'release') this.#check(entry)
  }

  /** Works until closed. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work(signal)))
  }

  close(): void {
    this.#queue.shutDown()
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      try {
        await this.#do(key, signal)
        this.#queue.forget(key)
      } catch (error) {
        if (this.#queue.failures(key) === 0 && !signal.aborted)
          this.#context.log.warn('cleanup job could not be let go, will try again', { job: key, error: asError(error) })
        this.#queue.retry(key)
      } finally {
        this.#queue.done(key)
      }
    }
  }

  async #do(job: string, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(job)
    if (entry?.todo === 'check') await this.#planLeaseController(entry, signal)
    // It may be needed, or be held anew.
    if (entry?.todo !== 'release' || this.#entries.get(job) !== entry) return
    await this.#letGo(entry.job, signal)
    if (this.#entries.get(job) === entry) this.#remove(entry)
  }

  /** Asks the server what the object needs, unless the cache says that it needs the job: it may be behind who made that. */
  async #planLeaseController(entry: Entry, signal: AbortSignal): Promise<void> {
    const cached = this.#cache.getByKey(entry.key)
    const isKnown = cached !== undefined && this.#isNeeded(entry, cached)
    const object = isKnown ? cached : await this.#read(entry.job, signal)
    // It went meanwhile.
    if (entry.todo !== 'check') return
    if (!object || !this.#isNeeded(entry, object)) {
      entry.todo = 'release'
      return
    }
    entry.since = object.metadata.resourceVersion
    entry.todo = undefined
    const latest = this.#cache.getByKey(entry.key)
    if (latest) this.see(entry.key, latest)
  }

  async #read({ ref, source }: HeldJob, signal: AbortSignal): Promise<Leased | undefined> {
    const { api, kind } = this.#context
    try {
      return await api.get(kind, { name: source.name, namespace: ref.namespace }, { signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /** From now on the server clears it away so long after its end as was asked for. */
  async #letGo({ ref, prefix, source }: HeldJob, signal: AbortSignal): Promise<void> {
    const { api, log } = this.#context
    const patch = mergePatch({
      metadata: { labels: { [prefix + JOB_LABELS.held]: null } },
      spec: { ttlSecondsAfterFinished: source.ttl },
    })
    try {
      await api.patch(Job, ref, patch, { signal })
    } catch (error) {
      if (isNotFound(error)) return
      // Who may not change jobs leaves them behind.
      if (!(error instanceof ApiError) || (error.status !== 403 && !isRefusedAsIs(error))) throw error
      log.warn('cleanup job can not be let go and stays until somebody removes it', { ...ref, error })
    }
  }

  #isNeeded({ job }: Entry, object: Leased): boolean {
    return isNeeded(job, object, planFor(this.#context, object, this.#context.clock.now()))
  }

  #of(key: string): readonly Entry[] {
    const jobs = this.#byObject.get(key)
    // Nearly always so, and asked for every event.
    if (!jobs) return []
    return [...jobs].map((job) => this.#entries.get(job)).filter((entry) => entry !== undefined)
  }

  #put(entry: Entry): Entry {
    const job = keyOf(entry.job.ref)
    this.#entries.set(job, entry)
    const jobs = this.#byObject.get(entry.key)
    if (jobs) jobs.add(job)
    else this.#byObject.set(entry.key, new Set([job]))
    return entry
  }

  #check(entry: Entry): void {
    entry.todo = 'check'
    this.#queue.add(keyOf(entry.job.ref))
  }

  #release(entry: Entry): void {
    entry.todo = 'release'
    this.#queue.add(keyOf(entry.job.ref))
  }

  #remove(entry: Entry | undefined): void {
    if (!entry) return
    const job = keyOf(entry.job.ref)
    this.#entries.delete(job)
    const jobs = this.#byObject.get(entry.key)
    jobs?.delete(job)
    if (jobs?.size === 0) this.#byObject.delete(entry.key)
  }
}
