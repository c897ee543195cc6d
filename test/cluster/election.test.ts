import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { compareResourceVersions } from '@tenure/kube'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type ClusterAccess, openCluster } from './access.ts'
import { findBinaries } from './binaries.ts'
import { type Cluster, startCluster } from './cluster.ts'
import type { CandidateSettings } from './programs-under-test/candidate.ts'
import { Child, monotonic } from './programs-under-test/child.ts'
import { Candidate, Journal } from './programs-under-test/electorate.ts'

const NAMESPACE = `election-${randomBytes(3).toString('hex')}`
const POLL_OPTIONS = { timeout: 90_000, interval: 25 }
/** Short durations in milliseconds, for tests that would otherwise mostly wait. */
const SHORT_DURATIONS = { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 500 }
const DEFAULTS = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 }
/** Milliseconds that a busy machine may add to a measured time. */
const SLACK_MS = 500

let cluster: ClusterAccess
const children: Child[] = []

beforeAll(async () => {
  cluster = await openCluster(workerKubeconfig())
  await cluster.kubectl(['create', 'namespace', NAMESPACE])
})

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.end()))
})

afterAll(async () => {
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--wait=false'])
})

function startCandidate(kubeconfig: string, settings: CandidateSettings): Candidate {
  const candidate = new Candidate(kubeconfig, settings)
  children.push(candidate.process)
  return candidate
}

function openJournal(lease: string): Promise<Journal> {
  return Journal.open(cluster.kubeconfig, NAMESPACE, lease, `${lease}-work`)
}

/** Starts candidates for one Lease, in order. */
async function stand(
  where: ClusterAccess,
  lease: string,
  timing: Partial<typeof DEFAULTS>,
  identities: readonly string[],
): Promise<readonly Candidate[]> {
  const work = `${lease}-work`
  await where.kubectl(['-n', NAMESPACE, 'create', 'configmap', work])
  const candidates: Candidate[] = []
  for (const identity of identities) {
    const candidate = startCandidate(where.kubeconfig, { identity, namespace: NAMESPACE, lease, work, ...timing })
    candidates.push(candidate)
    await expect.poll(() => candidate.process.output, POLL_OPTIONS).toContain('waiting to become leader')
    // The first candidate to start leads first.
    await expectLead(candidates)
  }
  return candidates
}

/** Waits until one of them leads after the given time; returns which one and when. */
async function expectLead(candidates: readonly Candidate[], since = 0): Promise<{ who: Candidate; at: number }> {
  const find = (): { who: Candidate; at: number } | undefined => {
    for (const who of candidates) {
      const at = who.ledAt(since)
      if (at !== undefined) return { who, at }
    }
    return undefined
  }
  await expect.poll(find, { ...POLL_OPTIONS, message: 'a candidate leads' }).toBeDefined()
  const found = find()
  if (!found) throw new Error('No candidate leads')
  return found
}

/** By their own statements, no two candidates ever led at the same time. */
function expectOneAtATime(candidates: readonly Candidate[]): void {
  const terms = candidates.flatMap((candidate) => candidate.terms()).toSorted((a, b) => a.first - b.first)
  expect(terms.length).toBeGreaterThan(1)
  const overlaps = terms.filter((term, index) => index > 0 && term.first <= (terms[index - 1]?.last ?? 0))
  expect(overlaps).toEqual([])
}

/** Every write was stored while the Lease named its writer. */
function expectWritesOfHoldersOnly(journal: Journal): void {
  expect(journal.writers.length).toBeGreaterThan(10)
  expect(journal.writesOfStrangers()).toEqual([])
}

/** In the order of resourceVersions, writes of different terms are not interleaved. */
function expectTermsInOrderOfWrites(candidates: readonly Candidate[]): void {
  const writes = candidates.flatMap((candidate) =>
    candidate.said().flatMap(({ at, wrote }) => (wrote === undefined ? [] : [{ at, wrote, by: candidate.identity }])),
  )
  const inOrder = writes.toSorted((a, b) => compareResourceVersions(a.wrote, b.wrote))
  const byTime = writes.toSorted((a, b) => a.at - b.at)
  expect(inOrder.map(({ by }) => by)).toEqual(byTime.map(({ by }) => by))
}

/** Stops the API server and starts it again; one candidate leads before and after, and none meanwhile. */
async function expectStepDown(
  candidates: readonly Candidate[],
  takeAway: () => void | Promise<void>,
  bringBack: () => void | Promise<void>,
): Promise<void> {
  const { who: leader } = await expectLead(candidates, monotonic())
  await takeAway()
  const away = monotonic()
  const saysNo = (): boolean => leader.said(away).some(({ leads }) => leads === false)
  await expect.poll(saysNo, POLL_OPTIONS).toBe(true)
  expect(leader.lastLed() - away).toBeLessThanOrEqual(SHORT_DURATIONS.renewDeadline)

  // No candidate can lead while the Lease cannot be written.
  await expect
    .poll(() => monotonic() - away, POLL_OPTIONS)
    .toBeGreaterThan(SHORT_DURATIONS.leaseDuration + 2 * SHORT_DURATIONS.retryPeriod)
  const led = candidates.map((candidate) => candidate.lastLed())
  expect(Math.max(...led)).toBe(leader.lastLed())

  await bringBack()
  const back = monotonic()
  const next = await expectLead(candidates, back)
  expect(next.at - back).toBeLessThanOrEqual(SHORT_DURATIONS.leaseDuration + SHORT_DURATIONS.retryPeriod + SLACK_MS)
  await expect.poll(() => next.who.said(back).some(({ wrote }) => wrote !== undefined), POLL_OPTIONS).toBe(true)
}

describe('candidates on a real Lease', () => {
  test('candidates hand over within 2 s of a clean stop, and within lease + retry of a kill -9', async () => {
    const journal = await openJournal('defaults')
    const [first, ...others] = await stand(cluster, 'defaults', {}, ['first', 'second', 'third'])
    if (!first) throw new Error('No candidate')

    first.process.signal('SIGTERM')
    const second = await expectLead(others)
    expect(await first.process.ended).toMatchObject({ code: 0, signal: null })
    expect(second.at - first.lastLed()).toBeLessThanOrEqual(2_000)

    // Waits for a renewal, because followers measure from a renewal and not from the acquisition.
    await expect.poll(() => journal.timesHeldBy(second.who.identity), POLL_OPTIONS).toBeGreaterThan(1)
    const killed = second.who.process.signal('SIGKILL')
    const third = await expectLead(others.filter((other) => other !== second.who))
    expect(third.at - killed).toBeLessThanOrEqual(DEFAULTS.leaseDuration + DEFAULTS.retryPeriod)
    expect(third.at - killed).toBeGreaterThan(DEFAULTS.leaseDuration - DEFAULTS.retryPeriod - SLACK_MS)

    await expect.poll(() => journal.writers.at(-1)?.name, POLL_OPTIONS).toBe(third.who.identity)
    expectOneAtATime([first, ...others])
    expectWritesOfHoldersOnly(journal)
    await journal.close()
  })

  test('a candidate that was suspended past its lease does no leader work', async () => {
    const journal = await openJournal('suspended')
    const [sleeper, other] = await stand(cluster, 'suspended', SHORT_DURATIONS, ['sleeper', 'other'])
    if (!sleeper || !other) throw new Error('No candidates')
    await expect.poll(() => journal.writers.length, POLL_OPTIONS).toBeGreaterThan(10)

    sleeper.process.signal('SIGUSR2')
    await expect.poll(() => sleeper.said().some(({ frozen }) => frozen === 'before'), POLL_OPTIONS).toBe(true)
    const { at: tookOver } = await expectLead([other])
    await expect.poll(() => journal.writers.at(-1)?.name, POLL_OPTIONS).toBe('other')
    expect(sleeper.said().some(({ frozen }) => frozen === 'after')).toBe(false)

    const woken = sleeper.process.signal('SIGCONT')
    await expect.poll(() => sleeper.said(woken).some(({ leads }) => leads === false), POLL_OPTIONS).toBe(true)
    // Its first action is a write, before any timer reports the end of its term.
    const [attempt] = sleeper.said(woken).filter(({ frozen, leads }) => frozen === undefined && leads === undefined)
    expect(attempt?.failed).toBe('TENURE_ELECTION_NOT_LEADER')
    expect(sleeper.lastLed()).toBeLessThan(tookOver)

    // It is a candidate again and leads when the other one stops.
    other.process.signal('SIGTERM')
    await expectLead([sleeper], woken)
    await expect.poll(() => journal.writers.at(-1)?.name, POLL_OPTIONS).toBe('sleeper')
    expectOneAtATime([sleeper, other])
    expectWritesOfHoldersOnly(journal)
    await journal.close()
  })
})

describe('candidates during an outage of the API server', () => {
  let own: Cluster

  beforeAll(async () => {
    own = await startCluster()
    await own.kubectl(['create', 'namespace', NAMESPACE])
  })

  afterAll(() => own.stop())

  test('candidates step down by their renew deadline, lead again afterwards, and never two at once', async () => {
    const candidates = await stand(own, 'away', SHORT_DURATIONS, ['first', 'second', 'third'])
    await expectStepDown(
      candidates,
      () => own.apiServer.pause(),
      () => own.apiServer.resume(),
    )
    await expectStepDown(
      candidates,
      () => own.stopApiServer(),
      () => own.startApiServer(),
    )
    expectOneAtATime(candidates)
    expectTermsInOrderOfWrites(candidates)
  })
})

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

async function leaseSpec(lease: string): Promise<LeaseSpec> {
  const answer = await cluster.runKubectl(['-n', NAMESPACE, 'get', 'lease', lease, '-o', 'json'])
  return answer.code === 0 ? (JSON.parse(answer.stdout) as { spec: LeaseSpec }).spec : {}
}

/** Returns the format of each value without its content. */
function shapeOf(spec: LeaseSpec): readonly string[] {
  return Object.entries(spec).map(([name, value]) =>
    typeof value === 'string' ? `${name}: ${value.replaceAll(/\d/g, '9').replace(/^.*_.*$/, 'host_unique')}` : name,
  )
}

describe('candidates together with client-go', () => {
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'tenure-election-'))
  })

  afterAll(() => rm(directory, { recursive: true }))

  /** Starts a scheduler that no pod names; the test only needs its leader election, which is client-go's. */
  async function startScheduler(lease: string): Promise<Child> {
    const { programs } = await findBinaries(() => {})
    const file = path.join(directory, `${lease}.json`)
    const config = {
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      clientConnection: { kubeconfig: cluster.kubeconfig },
      profiles: [{ schedulerName: 'unused' }],
      leaderElection: {
        leaderElect: true,
        resourceLock: 'leases',
        resourceName: lease,
        resourceNamespace: NAMESPACE,
        leaseDuration: `${SHORT_DURATIONS.leaseDuration}ms`,
        renewDeadline: `${SHORT_DURATIONS.renewDeadline}ms`,
        retryPeriod: `${SHORT_DURATIONS.retryPeriod}ms`,
      },
    }
    await writeFile(file, JSON.stringify(config))
    const child = new Child(programs['kube-scheduler'], { args: [`--config=${file}`, '--secure-port=0'] })
    children.push(child)
    return child
  }

  test('a Lease moves between a scheduler and a candidate in both directions', async () => {
    const lease = 'shared'
    const scheduler = await startScheduler(lease)
    await expect.poll(async () => (await leaseSpec(lease)).holderIdentity ?? '', POLL_OPTIONS).not.toBe('')
    const theirs = await leaseSpec(lease)

    // The candidate waits for longer than a lease duration while the scheduler lives.
    await cluster.kubectl(['-n', NAMESPACE, 'create', 'configmap', `${lease}-work`])
    const settings = { identity: 'host_ours', namespace: NAMESPACE, lease, work: `${lease}-work`, ...SHORT_DURATIONS }
    const ours = startCandidate(cluster.kubeconfig, settings)
    await expect.poll(() => ours.process.output, POLL_OPTIONS).toContain('waiting to become leader')
    const since = monotonic()
    await expect
      .poll(() => monotonic() - since, POLL_OPTIONS)
      .toBeGreaterThan(SHORT_DURATIONS.leaseDuration + 2 * SHORT_DURATIONS.retryPeriod)
    expect(ours.ledAt()).toBeUndefined()
    expect((await leaseSpec(lease)).holderIdentity).toBe(theirs.holderIdentity)

    const killed = scheduler.signal('SIGKILL')
    const { at } = await expectLead([ours])
    expect(at - killed).toBeLessThanOrEqual(SHORT_DURATIONS.leaseDuration + SHORT_DURATIONS.retryPeriod + SLACK_MS)
    const taken = await leaseSpec(lease)
    expect(taken.holderIdentity).toBe('host_ours')
    expect(shapeOf(taken).toSorted()).toEqual(shapeOf(theirs).toSorted())
    expect(taken.leaseTransitions).toBe((theirs.leaseTransitions ?? 0) + 1)

    // The scheduler waits in turn, and takes the released Lease.
    const next = await startScheduler(lease)
    await expect.poll(() => next.output, POLL_OPTIONS).toMatch(/[Aa]ttempting to acquire leader lease/)
    const renewed = (await leaseSpec(lease)).renewTime
    await expect.poll(async () => (await leaseSpec(lease)).renewTime, POLL_OPTIONS).not.toBe(renewed)
    expect((await leaseSpec(lease)).holderIdentity).toBe('host_ours')
    ours.process.signal('SIGTERM')
    expect(await ours.process.ended).toMatchObject({ code: 0 })
    const { at: released } = await ours.process.ended
    await expect
      .poll(async () => (await leaseSpec(lease)).holderIdentity || 'host_ours', POLL_OPTIONS)
      .not.toBe('host_ours')
    expect(monotonic() - released).toBeLessThan(SHORT_DURATIONS.leaseDuration)
  })
})
