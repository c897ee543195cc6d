import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { compareResourceVersions } from '@tenure/kube'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'

import { type ClusterAccess, openCluster } from './access.ts'
import { findBinaries } from './binaries.ts'
import { type Cluster, startCluster } from './cluster.ts'
import type { CandidateSettings } from './programs-under-test/candidate.ts'
import { Child, monotonic } from './programs-under-test/child.ts'
import { Candidate, Journal } from './programs-under-test/electorate.ts'

const NAMESPACE = `election-${randomBytes(3).toString('hex')}`
const SOON = { timeout: 90_000, interval: 25 }
/** For tests that would otherwise wait for most of their time. */
const SHORT = { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 500 }
const DEFAULTS = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 }
/** What a busy machine may add to a time that is measured. */
const SLACK = 500

let cluster: ClusterAccess
const children: Child[] = []

beforeAll(async () => {
  cluster = await openCluster(inject('kubeconfig'))
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

/** A group of candidates for one lease, in the order in which they were started. */
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
    await expect.poll(() => candidate.process.output, SOON).toContain('waiting to become leader')
    // The first to stand is the first to lead.
    await expectLead(candidates)
  }
  return candidates
}

/** Waits until one of them leads, after a time; answers which and when. */
async function expectLead(candidates: readonly Candidate[], since = 0): Promise<{ who: Candidate; at: number }> {
  const find = (): { who: Candidate; at: number } | undefined => {
    for (const who of candidates) {
      const at = who.ledAt(since)
      if (at !== undefined) return { who, at }
    }
    return undefined
  }
  await expect.poll(find, { ...SOON, message: 'somebody leads' }).toBeDefined()
  const found = find()
  if (!found) throw new Error('nobody leads')
  return found
}

/** By what each said of itself, no two ever led at once. */
function expectOneAtATime(candidates: readonly Candidate[]): void {
  const terms = candidates.flatMap((candidate) => candidate.terms()).toSorted((a, b) => a.first - b.first)
  expect(terms.length).toBeGreaterThan(1)
  const overlaps = terms.filter((term, index) => index > 0 && term.first <= (terms[index - 1]?.last ?? 0))
  expect(overlaps).toEqual([])
}

/** Every write was stored while the lease named its writer. */
function expectWritesOfHoldersOnly(journal: Journal): void {
  expect(journal.writers.length).toBeGreaterThan(10)
  expect(journal.writesOfStrangers()).toEqual([])
}

/** As the server numbered them, writes of different terms are not mixed. */
function expectTermsInOrderOfWrites(candidates: readonly Candidate[]): void {
  const writes = candidates.flatMap((candidate) =>
    candidate.said().flatMap(({ at, wrote }) => (wrote === undefined ? [] : [{ at, wrote, by: candidate.identity }])),
  )
  const inOrder = writes.toSorted((a, b) => compareResourceVersions(a.wrote, b.wrote))
  const byTime = writes.toSorted((a, b) => a.at - b.at)
  expect(inOrder.map(({ by }) => by)).toEqual(byTime.map(({ by }) => by))
}

/** Takes the API server away and brings it back; somebody leads before and after, and nobody between. */
async function expectStepDown(
  candidates: readonly Candidate[],
  takeAway: () => void | Promise<void>,
  bringBack: () => void | Promise<void>,
): Promise<void> {
  const { who: leader } = await expectLead(candidates, monotonic())
  await takeAway()
  const away = monotonic()
  const saysNo = (): boolean => leader.said(away).some(({ leads }) => leads === false)
  await expect.poll(saysNo, SOON).toBe(true)
  expect(leader.lastLed() - away).toBeLessThanOrEqual(SHORT.renewDeadline)

  // A window of silence: nobody can lead while nobody can write the lease.
  await expect.poll(() => monotonic() - away, SOON).toBeGreaterThan(SHORT.leaseDuration + 2 * SHORT.retryPeriod)
  const led = candidates.map((candidate) => candidate.lastLed())
  expect(Math.max(...led)).toBe(leader.lastLed())

  await bringBack()
  const back = monotonic()
  const next = await expectLead(candidates, back)
  expect(next.at - back).toBeLessThanOrEqual(SHORT.leaseDuration + SHORT.retryPeriod + SLACK)
  await expect.poll(() => next.who.said(back).some(({ wrote }) => wrote !== undefined), SOON).toBe(true)
}

describe('candidates on a real Lease', () => {
  test('hand over within 2 s of a clean stop, and within lease + retry of a kill -9, with the defaults', async () => {
    const journal = await openJournal('defaults')
    const [first, ...others] = await stand(cluster, 'defaults', {}, ['first', 'second', 'third'])
    if (!first) throw new Error('no candidate')

    first.process.signal('SIGTERM')
    const second = await expectLead(others)
    expect(await first.process.ended).toMatchObject({ code: 0, signal: null })
    expect(second.at - first.lastLed()).toBeLessThanOrEqual(2_000)

    // It has renewed at least once: what followers go by is a renewal, not the beginning.
    await expect.poll(() => journal.timesHeldBy(second.who.identity), SOON).toBeGreaterThan(1)
    const killed = second.who.process.signal('SIGKILL')
    const third = await expectLead(others.filter((other) => other !== second.who))
    expect(third.at - killed).toBeLessThanOrEqual(DEFAULTS.leaseDuration + DEFAULTS.retryPeriod)
    expect(third.at - killed).toBeGreaterThan(DEFAULTS.leaseDuration - DEFAULTS.retryPeriod - SLACK)

    await expect.poll(() => journal.writers.at(-1)?.name, SOON).toBe(third.who.identity)
    expectOneAtATime([first, ...others])
    expectWritesOfHoldersOnly(journal)
    await journal.close()
  })

  test('do no leader work after they were suspended past their lease', async () => {
    const journal = await openJournal('suspended')
    const [sleeper, other] = await stand(cluster, 'suspended', SHORT, ['sleeper', 'other'])
    if (!sleeper || !other) throw new Error('no candidates')
    await expect.poll(() => journal.writers.length, SOON).toBeGreaterThan(10)

    sleeper.process.signal('SIGUSR2')
    await expect.poll(() => sleeper.said().some(({ frozen }) => frozen === 'before'), SOON).toBe(true)
    const { at: tookOver } = await expectLead([other])
    await expect.poll(() => journal.writers.at(-1)?.name, SOON).toBe('other')
    expect(sleeper.said().some(({ frozen }) => frozen === 'after')).toBe(false)

    const woken = sleeper.process.signal('SIGCONT')
    await expect.poll(() => sleeper.said(woken).some(({ leads }) => leads === false), SOON).toBe(true)
    // The first thing it did was to write, before any timer had told it that its time was over.
    const [attempt] = sleeper.said(woken).filter(({ frozen, leads }) => frozen === undefined && leads === undefined)
    expect(attempt?.failed).toBe('TENURE_ELECTION_NOT_LEADER')
    expect(sleeper.lastLed()).toBeLessThan(tookOver)

    // It stands again, and leads again when it is its turn.
    other.process.signal('SIGTERM')
    await expectLead([sleeper], woken)
    await expect.poll(() => journal.writers.at(-1)?.name, SOON).toBe('sleeper')
    expectOneAtATime([sleeper, other])
    expectWritesOfHoldersOnly(journal)
    await journal.close()
  })
})

describe('candidates whose API server is away for longer than the lease', () => {
  let own: Cluster

  beforeAll(async () => {
    own = await startCluster()
    await own.kubectl(['create', 'namespace', NAMESPACE])
  })

  afterAll(() => own.stop())

  test('step down by their renew deadline, lead again when it is back, and never two at once', async () => {
    const candidates = await stand(own, 'away', SHORT, ['first', 'second', 'third'])
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

/** How each value is written, without what it is. */
function shapeOf(spec: LeaseSpec): readonly string[] {
  return Object.entries(spec).map(([name, value]) =>
    typeof value === 'string' ? `${name}: ${value.replaceAll(/\d/g, '9').replace(/^.*_.*$/, 'host_unique')}` : name,
  )
}

describe('together with client-go', () => {
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'tenure-election-'))
  })

  afterAll(() => rm(directory, { recursive: true }))

  /** A scheduler that nobody's pods name: what it is here for is its leader election, which is client-go's. */
  async function startScheduler(lease: string): Promise<Child> {
    const { programs } = await findBinaries(() => {})
    const file = path.join(directory, `${lease}.json`)
    const config = {
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      clientConnection: { kubeconfig: cluster.kubeconfig },
      profiles: [{ schedulerName: 'nobodys' }],
      leaderElection: {
        leaderElect: true,
        resourceLock: 'leases',
        resourceName: lease,
        resourceNamespace: NAMESPACE,
        leaseDuration: `${SHORT.leaseDuration}ms`,
        renewDeadline: `${SHORT.renewDeadline}ms`,
        retryPeriod: `${SHORT.retryPeriod}ms`,
      },
    }
    await writeFile(file, JSON.stringify(config))
    const child = new Child(programs['kube-scheduler'], { args: [`--config=${file}`, '--secure-port=0'] })
    children.push(child)
    return child
  }

  test('a lease goes to and fro between a scheduler and us', async () => {
    const lease = 'shared'
    const scheduler = await startScheduler(lease)
    await expect.poll(async () => (await leaseSpec(lease)).holderIdentity ?? '', SOON).not.toBe('')
    const theirs = await leaseSpec(lease)

    // While it lives we wait, for longer than a lease lasts.
    await cluster.kubectl(['-n', NAMESPACE, 'create', 'configmap', `${lease}-work`])
    const settings = { identity: 'host_ours', namespace: NAMESPACE, lease, work: `${lease}-work`, ...SHORT }
    const ours = startCandidate(cluster.kubeconfig, settings)
    await expect.poll(() => ours.process.output, SOON).toContain('waiting to become leader')
    const since = monotonic()
    await expect.poll(() => monotonic() - since, SOON).toBeGreaterThan(SHORT.leaseDuration + 2 * SHORT.retryPeriod)
    expect(ours.ledAt()).toBeUndefined()
    expect((await leaseSpec(lease)).holderIdentity).toBe(theirs.holderIdentity)

    const killed = scheduler.signal('SIGKILL')
    const { at } = await expectLead([ours])
    expect(at - killed).toBeLessThanOrEqual(SHORT.leaseDuration + SHORT.retryPeriod + SLACK)
    const taken = await leaseSpec(lease)
    expect(taken.holderIdentity).toBe('host_ours')
    expect(shapeOf(taken).toSorted()).toEqual(shapeOf(theirs).toSorted())
    expect(taken.leaseTransitions).toBe((theirs.leaseTransitions ?? 0) + 1)

    // And it waits for us, and takes what we release.
    const next = await startScheduler(lease)
    await expect.poll(() => next.output, SOON).toMatch(/[Aa]ttempting to acquire leader lease/)
    const renewed = (await leaseSpec(lease)).renewTime
    await expect.poll(async () => (await leaseSpec(lease)).renewTime, SOON).not.toBe(renewed)
    expect((await leaseSpec(lease)).holderIdentity).toBe('host_ours')
    ours.process.signal('SIGTERM')
    expect(await ours.process.ended).toMatchObject({ code: 0 })
    const { at: released } = await ours.process.ended
    await expect.poll(async () => (await leaseSpec(lease)).holderIdentity || 'host_ours', SOON).not.toBe('host_ours')
    expect(monotonic() - released).toBeLessThan(SHORT.leaseDuration)
  })
})
