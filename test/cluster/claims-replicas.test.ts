/**
 * Tests three replicas of the claims operator under load. One of them, the leader, is killed; another one stands still
 * until a third leads, as if it were cut off. Every statement is counted from the API server's own watches.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ClaimsFixture } from './programs-under-test/claims.ts'
import { ClaimHistory, lastState, stateOf, type Track } from './support/claim-history.ts'
import { ClaimLoad } from './support/claim-load.ts'
import { WriteLatency } from './support/write-latency.ts'
import { until } from './support/until.ts'

const POOL_SIZE = 20
const CALLERS = 500
const CONCURRENCY = 32
/** The leader is killed when this many callers have begun. */
const KILLED_AT = 200
/** Milliseconds between the decision to delete and the end of the claim. */
const MAX_LATENESS_MS = 2_000
/** Milliseconds that the garbage collector of the cluster may need for children on a busy machine. */
const MAX_COLLECTION_MS = 30_000
/** Milliseconds for all callers: half a minute on a free machine. */
const LOAD_TIMEOUT_MS = 400_000

let fixture: ClaimsFixture
let history: ClaimHistory
let load: ClaimLoad
let latency: WriteLatency
/** Milliseconds since 1970. */
let killedAt = 0
let takenOverAt = 0

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig())
  history = await ClaimHistory.open(fixture.admin.client, fixture.namespace)
  const env = { PRE_PROVISION_CLAIMS_COUNT: String(POOL_SIZE) }
  const replicas = await Promise.all(['first', 'second', 'third'].map((name) => fixture.start(name, { env })))
  await Promise.all(replicas.map((replica) => replica.whenReady()))
  await poolIsFull()
  latency = await WriteLatency.open(fixture.admin.client, fixture.namespace)
  load = new ClaimLoad(replicas, history)
  let takeover: Promise<void> | undefined
  await load.run(CALLERS, CONCURRENCY, (begun) => {
    if (begun === KILLED_AT) takeover = killLeader()
  })
  await takeover
  await until(
    () => `everything but the pool is gone: ${remaining().length} objects remain`,
    () => history.idle('ready') === POOL_SIZE && remaining().length === 0,
  )
}, LOAD_TIMEOUT_MS)

afterAll(async () => {
  await latency.close()
  await history.close()
  await fixture.close()
})

async function poolIsFull(): Promise<void> {
  await until('the pool is full', () => history.idle('ready') === POOL_SIZE)
}

/** Kills the leader, and stops another replica until the third one leads. */
async function killLeader(): Promise<void> {
  const name = await fixture.leader()
  const leader = fixture.processes.find((process) => process.name === name)
  const paused = fixture.processes.find((process) => process.name !== name)
  if (!leader || !paused) throw new Error('No replica leads')
  load.paused = paused
  paused.child.signal('SIGSTOP')
  killedAt = Date.now()
  leader.child.signal('SIGKILL')
  await until('another replica leads', async () => ![name, undefined].includes(await fixture.leader()))
  takenOverAt = Date.now()
  paused.child.signal('SIGCONT')
}

/** Objects that are neither members of the pool nor their children. */
function remaining(): readonly Track[] {
  const members = new Set(history.claims.filter((claim) => lastState(claim).isIdle).map(({ uid }) => uid))
  const isOfMember = ({ uid, versions }: Track): boolean =>
    members.has(uid) || (versions[0]?.metadata.ownerReferences?.some((owner) => members.has(owner.uid)) ?? false)
  return history.existing.filter((track) => !isOfMember(track))
}

/** A call that is repeated with its key may mark its claim again; nothing else changes who holds a claim. */
function isHandedOutOnce({ versions }: Track): boolean {
  const states = versions.map(stateOf).filter(({ isIdle }) => !isIdle)
  const holders = states.map(({ claimedAt, handOut, key }) => `${claimedAt} ${key ?? handOut}`)
  return new Set(holders).size === 1
}

const handedOut = (): readonly Track[] => history.claims.filter((claim) => !lastState(claim).isIdle)
const heldBy = ({ name }: Track) => load.held.find(({ id }) => `claim-${id}` === name)
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

test('every caller gets a claim of its own, and no claim is handed out twice', () => {
  expect(load.unexpected).toEqual([])
  expect(load.held).toHaveLength(CALLERS)
  expect(new Set(load.held.map(({ id }) => id)).size).toBe(CALLERS)
  expect(
    handedOut()
      .filter((claim) => !isHandedOutOnce(claim))
      .map(({ versions }) => versions.map(stateOf)),
  ).toEqual([])
})

test('a claim exists and is ready with its pod and its service when its caller gets it', () => {
  expect(load.held.filter(({ wasReady }) => !wasReady)).toEqual([])
})

test('callers whose replica is killed repeat their call with a key and get exactly one claim', () => {
  expect(load.broken).toBeGreaterThan(0)
  expect(load.repeated).toBeGreaterThan(0)
  const keyed = Map.groupBy(handedOut(), (claim) => lastState(claim).key)
  keyed.delete(undefined)
  const used = load.held.filter(({ key }) => key !== undefined)
  expect(keyed.size).toBe(used.length)
  for (const claims of keyed.values()) expect(claims.filter((claim) => heldBy(claim))).toHaveLength(1)
})

test('no claim ends before the expiry that its caller was promised, unless it is released', () => {
  const early = load.held.filter(({ id, promised, releasedIn }) => {
    const { deletedAt = 0 } = history.claim(id) ?? {}
    return releasedIn === undefined && deletedAt < Math.max(...promised)
  })
  expect(early).toEqual([])
})

test('a claim is gone when its release is answered', () => {
  const released = load.held.filter(({ releasedIn }) => releasedIn !== undefined)
  expect(released).toHaveLength(CALLERS / 2)
  for (const { id, releasedIn } of released) expect(history.claim(id)?.deletedIn).toBeLessThanOrEqual(releasedIn ?? 0)
})

test('a claim ends within two seconds of its expiry, or of the end of a time without a leader', () => {
  const lateness = handedOut().flatMap((claim) => {
    const { expiresAt } = lastState(claim)
    const isLeaderless = expiresAt + MAX_LATENESS_MS > killedAt && expiresAt < takenOverAt
    return (claim.deletedAt ?? Infinity) - (isLeaderless ? takenOverAt : expiresAt)
  })
  const late = lateness.filter((milliseconds) => milliseconds >= 0)
  expect(late.length).toBeGreaterThan(CALLERS / 4)
  console.info(
    `expired claims ended after ms: p50 ${percentile(late, 0.5)}, max ${percentile(late, 1)}; slowest bare write ${latency.max}`,
  )
  // On a slow machine it also takes a read, a write and an event of the watch.
  expect(Math.max(...late)).toBeLessThan(MAX_LATENESS_MS + 3 * latency.max)
})

test('children end with their claim', () => {
  const collection = handedOut().flatMap((claim) =>
    history.childrenOf(claim).map(({ deletedAt = Infinity }) => deletedAt - (claim.deletedAt ?? 0)),
  )
  console.info(`children ended after ms: p50 ${percentile(collection, 0.5)}, max ${percentile(collection, 1)}`)
  expect(Math.max(...collection)).toBeLessThan(MAX_COLLECTION_MS)
})

test('the pool returns to exactly its size and is never larger', () => {
  expect(history.maxIdle).toBe(POOL_SIZE)
  expect(history.idle('ready')).toBe(POOL_SIZE)
  expect(history.idle('pending')).toBe(0)
  // Besides the pool nothing exists: a killed replica leaves no orphan.
  expect(remaining().map(({ kind, name }) => `${kind} ${name}`)).toEqual([])
  expect(history.existing).toHaveLength(3 * POOL_SIZE)
})

test('the replicas that survive complain about nothing', () => {
  const survivors = fixture.processes.filter(({ child }) => !child.hasEnded)
  expect(survivors).toHaveLength(2)
  expect(survivors.flatMap(({ complaints }) => complaints)).toEqual([])
})
