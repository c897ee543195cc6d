import type { KubeObject, Stored } from '@tenure/kube'
import { ConfigMap, Job } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTime } from '../../api/time.ts'
import { NEWER, type LeaseProcess, SEED, LeaseHarness } from '../../testing/lease-harness.ts'

const NAMES = ['a', 'b', 'c', 'd']
const name = fc.constantFrom(...NAMES)
const seconds = fc.integer({ min: 0, max: 90 })

const DAY = 86_400_000

/** Ten seconds, plus the accepted difference between clocks. */
const NO_LONGER_NEW = 14_000

type Fault = 'conflict' | 'error' | 'drop' | 'drop-response'

type Step =
  | {
      readonly do: 'create'
      readonly name: string
      readonly ttl: number
      readonly newer: boolean
      readonly job: 'none' | 'wait' | 'fire'
    }
  /** Without a TTL, which is added later. */
  | { readonly do: 'create-bare'; readonly name: string }
  | { readonly do: 'edit-ttl'; readonly name: string; readonly ttl: number }
  | { readonly do: 'extend' | 'delete'; readonly name: string }
  | { readonly do: 'remove-ttl' | 'remove-start' | 'spoil-ttl' | 'spoil-start' | 'touch'; readonly name: string }
  | { readonly do: 'pass'; readonly milliseconds: number }
  | { readonly do: 'restart'; readonly kill: boolean; readonly down: number }
  | { readonly do: 'jump'; readonly ahead: number }
  | { readonly do: 'drop-watches' | 'hold-watches' | 'release-watches' | 'compact' }
  | { readonly do: 'fault'; readonly fault: Fault; readonly count: number }
  /** A user extends the lease just before the controller's next write of that object. */
  | { readonly do: 'race'; readonly name: string }
  | { readonly do: 'finish-jobs'; readonly type: 'Complete' | 'Failed' }

const pass: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('pass'),
  milliseconds: fc.integer({ min: 1, max: 40_000 }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: pass },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('create'),
      name,
      ttl: seconds,
      newer: fc.boolean(),
      job: fc.constantFrom('none', 'none', 'none', 'wait', 'fire'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('extend'), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create-bare'), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('edit-ttl'), name, ttl: seconds }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('remove-ttl', 'remove-start', 'spoil-ttl', 'spoil-start', 'touch'),
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('restart'),
      kill: fc.boolean(),
      // Usually short, sometimes so long that all finished jobs are gone.
      down: fc.oneof(
        { weight: 3, arbitrary: fc.nat(60_000) },
        { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 90 * DAY }) },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete'), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump'), ahead: fc.integer({ min: -100_000, max: 100_000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('drop-watches', 'hold-watches', 'release-watches', 'compact') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault'),
      fault: fc.constantFrom('conflict', 'error', 'drop', 'drop-response'),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('race'), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('finish-jobs'), type: fc.constantFrom('Complete', 'Failed') }) },
)

/** Checks the invariants on the stored objects, independently of the controller. */
class Oracle {
  readonly #harness: LeaseHarness
  readonly problems: string[] = []
  deletions = 0
  promisesKept = 0
  /** Whether the current change is made by a user. */
  byUser = false
  /** Starts already checked, by object. */
  readonly #starts = new Set<string>()
  /** The earliest expiry that a TTL added later allows, by uid. */
  readonly #promises = new Map<string, number>()
  /** The last version of every job, including deleted ones, by uid. */
  readonly #jobs = new Map<string, Stored<Job>>()
  /** Deleted jobs of an expiry that a user's change has started again. */
  readonly #before = new Set<string>()

  constructor(harness: LeaseHarness) {
    this.#harness = harness
    harness.server.onChange(ConfigMap, ({ before, after }) => {
      if (before && !after && !this.byUser) this.#checkDeletion(before)
      if (!before || !after) return
      this.#checkStart(after)
      this.#checkKept(before, after)
    })
    harness.server.onChange(Job, ({ before, after: job }) => {
      if (!job) return
      this.#jobs.set(job.metadata.uid, job)
      if (!before) this.#checkJob(job)
    })
  }

  /** A user changed the object: a TTL on an object that is no longer new counts from now, even if a clock is wrong. */
  promise({ metadata: { uid, annotations = {}, creationTimestamp } }: Stored<KubeObject>): void {
    const now = this.#harness.clock.now()
    // A lease that is moved away from an expiry and back expires there again.
    const there = new Set(this.#harness.jobs.map(({ metadata }) => metadata.uid))
    for (const [job, made] of this.#jobs) {
      if (environmentOf(made)['OBJECT_UID'] === uid && !there.has(job)) this.#before.add(job)
    }
    const ttl = /^(\d+)s$/.exec(annotations[`${SEED}ttl`] ?? '')?.[1]
    const isFresh = ['extended-at', 'expire-at', 'lease-basis'].every((name) => annotations[SEED + name] === undefined)
    const isOld = now - (parseTime(creationTimestamp) ?? 0) > NO_LONGER_NEW
    if (ttl !== undefined && isFresh && isOld) this.#promises.set(uid, now - 2_000 + Number(ttl) * 1_000)
    else this.#promises.delete(uid)
  }

  /** Users write milliseconds here, controllers whole seconds: a controller's start is the server's time. */
  #checkStart({ metadata }: Stored<KubeObject>): void {
    const { annotations = {} } = metadata
    const start = annotations[`${SEED}extended-at`] ?? annotations[`${NEWER}lease-start`]
    const time = start === undefined || start.includes('.') ? undefined : parseTime(start)
    if (time === undefined || this.#starts.has(`${metadata.uid} ${start}`)) return
    this.#starts.add(`${metadata.uid} ${start}`)
    const age = this.#harness.clock.now() - time
    if (age < 0 || age > 2_000) this.problems.push(`${metadata.name} got a start ${age} ms ago`)
  }

  /** A start that a user wrote stays until a user removes it or the TTL. */
  #checkKept(before: Stored<KubeObject>, after: Stored<KubeObject>): void {
    const { prefix, start } = familyOf(before)
    const given = before.metadata.annotations?.[start]
    const isLeased = before.metadata.annotations?.[`${prefix}ttl`] !== undefined
    if (this.byUser || !isLeased || given === undefined || parseTime(given) === undefined) return
    if (after.metadata.annotations?.[start] !== given)
      this.problems.push(`${after.metadata.name} lost its start ${given}`)
  }

  /** Only an expired lease deletes here. */
  #checkDeletion({ metadata }: Stored<KubeObject>): void {
    this.deletions++
    const now = this.#harness.clock.now()
    const promised = this.#promises.get(metadata.uid)
    if (promised !== undefined) this.promisesKept++
    if (promised !== undefined && now < promised)
      this.problems.push(`${metadata.name} was deleted ${promised - now} ms before its TTL, put on later, had passed`)
    const { annotations = {} } = metadata
    const prefix = annotations[`${SEED}ttl`] === undefined ? NEWER : SEED
    const ttl = /^(\d+)s$/.exec(annotations[`${prefix}ttl`] ?? '')?.[1]
    const start = annotations[prefix + (prefix === SEED ? 'extended-at' : 'lease-start')]
    const from = parseTime(start ?? metadata.creationTimestamp)
    if (ttl === undefined) this.problems.push(`${metadata.name} was deleted without a valid TTL`)
    else if (from === undefined) this.problems.push(`${metadata.name} was deleted with the start ${start ?? ''}`)
    else if (from + Number(ttl) * 1_000 > now) {
      this.problems.push(`${metadata.name} was deleted ${from + Number(ttl) * 1_000 - now} ms early`)
    }
    const end = Math.ceil((from ?? 0) / 1_000 + Number(ttl)) * 1_000
    if (parseTime(annotations[`${prefix}expire-at`] ?? '') !== end) {
      this.problems.push(`${metadata.name} was deleted without its date on it`)
    }
    if (annotations[`${prefix}on-delete-job`] === undefined) return
    const jobs = this.#jobsOf(metadata.uid, annotations[`${prefix}expire-at`] ?? '')
    if (jobs.length === 0) this.problems.push(`${metadata.name} was deleted without its job`)
    const isDone = jobs.some(({ status }) => status?.conditions?.some((condition) => condition.type === 'Complete'))
    if (annotations[`${prefix}job-wait`] === 'true' && !isDone) {
      this.problems.push(`${metadata.name} was deleted before its job was done`)
    }
  }

  /** One job per expiry; another only after the earlier ones failed. */
  #checkJob(job: Stored<Job>): void {
    const environment = environmentOf(job)
    const others = this.#jobsOf(environment['OBJECT_UID'] ?? '', environment['LEASE_EXPIRED_AT'] ?? '').filter(
      ({ metadata }) => metadata.uid !== job.metadata.uid && !this.#before.has(metadata.uid),
    )
    const isFailed = others.every(({ status }) => status?.conditions?.some((condition) => condition.type === 'Failed'))
    if (!isFailed) this.problems.push(`${job.metadata.name} was made although there is a job for that end`)
  }

  #jobsOf(uid: string, end: string): readonly Stored<Job>[] {
    return [...this.#jobs.values()].filter((job) => {
      const environment = environmentOf(job)
      return environment['OBJECT_UID'] === uid && environment['LEASE_EXPIRED_AT'] === end
    })
  }
}

function environmentOf(job: Stored<Job>): Record<string, string | undefined> {
  const env = job.spec?.template.spec?.containers[0]?.env ?? []
  return Object.fromEntries(env.map(({ name: key, value }) => [key, value]))
}

function familyOf(object: Stored<KubeObject>): { readonly prefix: string; readonly start: string } {
  const isNewer = Object.keys(object.metadata.annotations ?? {}).some((key) => key.startsWith(NEWER))
  return isNewer ? { prefix: NEWER, start: `${NEWER}lease-start` } : { prefix: SEED, start: `${SEED}extended-at` }
}

class Run {
  readonly harness: LeaseHarness
  readonly oracle: Oracle
  #process: LeaseProcess | undefined
  #faults: Fault[] = []
  readonly #races = new Set<string>()

  private constructor(harness: LeaseHarness) {
    this.harness = harness
    this.oracle = new Oracle(harness)
  }

  static async begin(): Promise<Run> {
    const run = new Run(await LeaseHarness.create())
    await run.#begin()
    return run
  }

  async #begin(): Promise<void> {
    this.harness.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { run: '' } })
    this.harness.server.intercept(({ verb, plural, name: target }) => {
      if (plural !== 'configmaps' && plural !== 'jobs') return undefined
      if (verb !== 'patch' && verb !== 'delete' && verb !== 'create') return undefined
      if (plural === 'configmaps' && this.#races.delete(target)) this.#extend(target)
      const fault = this.#faults.shift()
      if (fault === 'conflict') return refuse(409, 'Conflict', 'the object has been modified')
      if (fault === 'error') return refuse(500, 'InternalError', 'no')
      return fault
    })
    this.harness.server.onChange(Job, ({ before, after }) => {
      if (after && !before) this.#endInTime(after)
    })
    this.#process = await this.harness.start()
  }

  async do(step: Step): Promise<void> {
    const { harness } = this
    const now = new Date(harness.clock.now()).toISOString()
    const object = 'name' in step ? harness.object(step.name) : undefined
    const family = object && familyOf(object)
    switch (step.do) {
      case 'create': {
        if (object) return
        const prefix = step.newer ? NEWER : SEED
        harness.create(step.name, {
          [`${prefix}ttl`]: `${step.ttl}s`,
          ...(step.job !== 'none' && { [`${prefix}on-delete-job`]: 'scripts/run' }),
          ...(step.job === 'wait' && { [`${prefix}job-wait`]: 'true' }),
        })
        return
      }
      case 'create-bare':
        if (!object) harness.create(step.name, {})
        return
      case 'edit-ttl':
        if (object && family) this.#annotate(step.name, { [`${family.prefix}ttl`]: `${step.ttl}s` })
        return
      case 'extend':
        this.#extend(step.name)
        return
      case 'delete':
        this.oracle.byUser = true
        harness.server.unseed(ConfigMap, { name: step.name, namespace: 'shop' })
        this.oracle.byUser = false
        return
      case 'remove-ttl':
        if (object && family) this.#annotate(step.name, { [`${family.prefix}ttl`]: undefined })
        return
      case 'spoil-ttl':
        if (object && family) this.#annotate(step.name, { [`${family.prefix}ttl`]: '1h30' })
        return
      case 'remove-start':
        if (object && family) this.#annotate(step.name, { [family.start]: undefined })
        return
      case 'spoil-start':
        if (object && family) this.#annotate(step.name, { [family.start]: 'yesterday' })
        return
      case 'touch':
        if (object) this.#annotate(step.name, { touched: now })
        return
      case 'pass':
        return harness.clock.advance(step.milliseconds)
      case 'restart':
        return this.#restart(step.kill, step.down)
      case 'jump':
        harness.clockOffset = step.ahead
        return
      case 'drop-watches':
        harness.server.dropWatches()
        return
      case 'hold-watches':
        harness.server.holdWatches()
        return
      case 'release-watches':
        harness.server.releaseWatches()
        return
      case 'compact':
        harness.server.compact()
        harness.server.dropWatches()
        return
      case 'fault':
        for (let count = 0; count < step.count; count++) this.#faults.push(step.fault)
        return
      case 'race':
        this.#races.add(step.name)
        return
      case 'finish-jobs':
        this.#finishJobs(step.type)
    }
  }

  /** Ends all faults and waits until everything that must happen has happened. */
  async settle(): Promise<void> {
    const { harness } = this
    this.#faults = []
    this.#races.clear()
    harness.clockOffset = 0
    harness.server.releaseWatches()
    for (let round = 0; round < 60; round++) {
      await harness.clock.advance(20_000)
      this.#finishJobs('Complete')
    }
  }

  async end(): Promise<void> {
    await this.harness.stop()
  }

  #annotate(target: string, changes: Readonly<Record<string, string | undefined>>): void {
    this.oracle.byUser = true
    this.harness.annotate(target, changes)
    this.oracle.byUser = false
    const object = this.harness.object(target)
    if (object && !('touched' in changes)) this.oracle.promise(object)
  }

  #extend(target: string): void {
    const object = this.harness.object(target)
    if (object) this.#annotate(target, { [familyOf(object).start]: new Date(this.harness.clock.now()).toISOString() })
  }

  #finishJobs(type: 'Complete' | 'Failed'): void {
    for (const job of this.harness.jobs) if (!job.status?.conditions) this.harness.finishJob(job, type, 'x')
  }

  /** Plays the job controller for a job past its deadline. */
  #endInTime({ metadata, spec }: Stored<Job>): void {
    const { clock } = this.harness
    if (spec?.activeDeadlineSeconds === undefined) return
    clock.setTimer(spec.activeDeadlineSeconds * 1_000, () => {
      const job = this.harness.jobs.find((each) => each.metadata.uid === metadata.uid)
      if (job && !job.status?.conditions) this.harness.finishJob(job, 'Failed', 'DeadlineExceeded')
    })
  }

  async #restart(kill: boolean, down: number): Promise<void> {
    if (kill) this.#process?.kill()
    // A clean stop waits for requests in progress, which may need time to pass.
    else await Promise.all([this.#process?.stop(), this.harness.clock.advance(2_000)])
    await this.harness.clock.advance(down)
    this.#process = await this.harness.start()
  }
}

/** Regressions. */
const regressions: readonly Step[][] = [
  // With a slow clock the object looked new; when the clock was corrected, the lease expired at once.
  [
    { do: 'create-bare', name: 'a' },
    { do: 'pass', milliseconds: 30_000 },
    { do: 'jump', ahead: -25_000 },
    { do: 'edit-ttl', name: 'a', ttl: 60 },
    { do: 'pass', milliseconds: 1_000 },
    { do: 'jump', ahead: 0 },
    { do: 'pass', milliseconds: 40_000 },
  ],
  // A live read that was older than the cache reverted the new date.
  [
    { do: 'create', name: 'a', ttl: 0, newer: false, job: 'wait' },
    { do: 'pass', milliseconds: 1 },
    { do: 'finish-jobs', type: 'Complete' },
    { do: 'release-watches' },
    { do: 'edit-ttl', name: 'a', ttl: 0 },
    { do: 'release-watches' },
    { do: 'edit-ttl', name: 'a', ttl: 1 },
    { do: 'finish-jobs', type: 'Complete' },
    { do: 'create', name: 'a', ttl: 0, newer: false, job: 'none' },
    { do: 'create', name: 'a', ttl: 0, newer: false, job: 'none' },
    { do: 'pass', milliseconds: 1 },
  ],
  // A finished job was gone when the next process looked, and was created again.
  [
    { do: 'create', name: 'a', ttl: 0, newer: false, job: 'wait' },
    { do: 'pass', milliseconds: 2_000 },
    { do: 'hold-watches' },
    { do: 'finish-jobs', type: 'Complete' },
    { do: 'restart', kill: true, down: 40 * DAY },
    { do: 'release-watches' },
    { do: 'pass', milliseconds: 20_000 },
  ],
]

describe('a lease controller under faults', () => {
  test('no lease ends early, no lease is lost, and no cleanup is repeated', { timeout: 240_000 }, async () => {
    let deletions = 0
    let promisesKept = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const run = await Run.begin()
        try {
          for (const each of steps) await run.do(each)
          expect(run.oracle.problems).toEqual([])
          await run.settle()
          expect(run.oracle.problems).toEqual([])
          for (const { metadata } of run.harness.server.objects(ConfigMap)) {
            const { annotations = {} } = metadata
            const ttl = annotations[`${SEED}ttl`] ?? annotations[`${NEWER}ttl`]
            // The remaining objects have no valid TTL and no date.
            expect({ name: metadata.name, ttl: ttl === '1h30' ? undefined : ttl }).toEqual({
              name: metadata.name,
              ttl: undefined,
            })
            expect(Object.keys(annotations).filter((key) => key.endsWith('expire-at'))).toEqual([])
          }
          // All jobs are released.
          expect(run.harness.jobs.filter(({ spec }) => spec?.ttlSecondsAfterFinished === undefined)).toEqual([])
          deletions += run.oracle.deletions
          promisesKept += run.oracle.promisesKept
        } finally {
          await run.end()
        }
      }),
      { numRuns: 200, examples: regressions.map((steps) => [steps]) },
    )
    expect(deletions).toBeGreaterThan(50)
    expect(promisesKept).toBeGreaterThan(0)
  })
})
