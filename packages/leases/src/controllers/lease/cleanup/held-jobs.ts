import {
  ApiError,
  compareResourceVersions,
  isNotFound,
  isObjectRejected,
  keyOf,
  mergePatch,
  type PartialObjectMetadata,
} from '@tenure/kube'
import { Job } from '@tenure/kube/kinds'
import { type Cache, QueueWorker } from '@tenure/runtime'
import { JOB_LABELS } from '../../../api/labels.ts'
import { HELD_JOBS_QUEUE } from '../../../api/queue-names.ts'
import type { Leased, LeaseContext } from '../context.ts'
import { type HeldJob, isNeeded } from './job-source.ts'

type Context = Pick<LeaseContext, 'api' | 'clock' | 'kind' | 'log' | 'planOf'>

interface Entry {
  readonly job: HeldJob
  /** Key of the object. */
  readonly key: string
  /** resourceVersion of the object when it needed the job; older versions do not count. */
  since: string | undefined
  /** Undefined: the job is needed until the object changes. */
  todo: 'check' | 'release' | undefined
}

/** Low, because leases come first. */
const CONCURRENCY = 4
const BACKOFF = { base: 1_000, max: 300_000 }

/**
 * Holds finished jobs until their result is recorded, then releases them: only then does their `job-ttl` start. If the
 * server removed a job before that, a later process would create it again. Releases run beside the leases, which never
 * wait for them; a later process finds those that were missed at its start.
 */
export class HeldJobs {
  readonly #context: Context
  readonly #cache: Cache<PartialObjectMetadata>
  readonly #worker: QueueWorker
  /** By the job's key. */
  readonly #entries = new Map<string, Entry>()
  /** The keys of an object's jobs, by its own. */
  readonly #byObject = new Map<string, Set<string>>()

  constructor(context: Context, cache: Cache<PartialObjectMetadata>) {
    this.#context = context
    this.#cache = cache
    this.#worker = new QueueWorker({
      name: HELD_JOBS_QUEUE,
      clock: context.clock,
      log: context.log,
      concurrency: CONCURRENCY,
      backoff: BACKOFF,
      work: (job, { signal }) => this.#work(job, signal),
    })
  }

  /** `object`, as just read, needs this job, which exists or is about to. */
  hold(key: string, object: Leased, job: HeldJob): void {
    this.#put({ key, job, since: object.metadata.resourceVersion, todo: undefined })
  }

  /** An earlier process created this job; the current object decides whether it is needed. */
  found(key: string, job: HeldJob): void {
    if (!this.#entries.has(keyOf(job.ref))) this.#check(this.#put({ key, job, since: undefined, todo: undefined }))
  }

  /** The job does not exist. */
  drop({ ref }: HeldJob): void {
    this.#remove(this.#entries.get(keyOf(ref)))
  }

  /** A new version of an object. */
  observe(key: string, object: Leased): void {
    for (const entry of this.#of(key)) {
      const isOlder =
        entry.since === undefined || compareResourceVersions(object.metadata.resourceVersion, entry.since) < 0
      if (!isOlder && !this.#isNeeded(entry, object)) this.#release(entry)
    }
  }

  /** An object was deleted. */
  deleted(key: string, uid: string): void {
    for (const entry of this.#of(key)) if (entry.job.source.uid === uid) this.#release(entry)
  }

  /** The step of an object is over: a `hold` during it may have hidden what the cache learned meanwhile. */
  settle(key: string): void {
    const cached = this.#cache.getByKey(key)
    if (cached) this.observe(key, cached)
    else for (const entry of this.#of(key)) if (entry.todo !== 'release') this.#check(entry)
  }

  async start(): Promise<void> {
    await this.#worker.start()
  }

  async stop(grace: number): Promise<void> {
    await this.#worker.stop(grace)
  }

  async #work(job: string, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(job)
    if (entry?.todo === 'check') await this.#recheck(entry, signal)
    // The job may be needed, or held again.
    if (entry?.todo !== 'release' || this.#entries.get(job) !== entry) return
    await this.#releaseJob(entry.job, signal)
    if (this.#entries.get(job) === entry) this.#remove(entry)
  }

  /** Reads the object unless the cache shows that it needs the job: the cache may be behind the creator of the job. */
  async #recheck(entry: Entry, signal: AbortSignal): Promise<void> {
    const cached = this.#cache.getByKey(entry.key)
    const isKnown = cached !== undefined && this.#isNeeded(entry, cached)
    const object = isKnown ? cached : await this.#read(entry.job, signal)
    // The object was deleted meanwhile.
    if (entry.todo !== 'check') return
    if (!object || !this.#isNeeded(entry, object)) {
      entry.todo = 'release'
      return
    }
    entry.since = object.metadata.resourceVersion
    entry.todo = undefined
    const latest = this.#cache.getByKey(entry.key)
    if (latest) this.observe(entry.key, latest)
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

  /** From now on the server removes the job `job-ttl` seconds after its end. */
  async #releaseJob({ ref, prefix, source }: HeldJob, signal: AbortSignal): Promise<void> {
    const { api, log } = this.#context
    const patch = mergePatch({
      metadata: { labels: { [prefix + JOB_LABELS.held]: null } },
      spec: { ttlSecondsAfterFinished: source.ttl },
    })
    try {
      await api.patch(Job, ref, patch, { signal })
    } catch (error) {
      if (isNotFound(error)) return
      // Without the right to patch Jobs, the job stays.
      if (!(error instanceof ApiError) || (error.status !== 403 && !isObjectRejected(error))) throw error
      log.warn('cleanup job not released, remove it by hand', { ...ref, error })
    }
  }

  #isNeeded({ job }: Entry, object: Leased): boolean {
    return isNeeded(job, object, this.#context.planOf(object, this.#context.clock.now()))
  }

  #of(key: string): readonly Entry[] {
    const jobs = this.#byObject.get(key)
    // The usual case, on the path of every event.
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
    this.#worker.add(keyOf(entry.job.ref))
  }

  #release(entry: Entry): void {
    entry.todo = 'release'
    this.#worker.add(keyOf(entry.job.ref))
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
