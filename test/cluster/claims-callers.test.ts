/** Tests callers that leave while their claim is not ready. Their pods fit on no node, so they would wait for two minutes. */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { type Answer, ClaimsFixture, type ClaimsProcess, UNSCHEDULABLE } from './programs-under-test/claims.ts'
import { ClaimHistory, lastState, type Track } from './support/claim-history.ts'
import { until } from './support/until.ts'

/** Milliseconds from the decision to delete a claim to its end. */
const MAX_LATENESS_MS = 2_000
/** Milliseconds that the garbage collector of the cluster may need for children on a busy machine. */
const MAX_COLLECTION_MS = 30_000
/** Milliseconds that a replica may need to stop on a busy machine. Its grace period is 30 s. */
const MAX_STOP_MS = 15_000

let fixture: ClaimsFixture
let history: ClaimHistory
let operator: ClaimsProcess

beforeAll(async () => {
  fixture = await ClaimsFixture.open(workerKubeconfig())
  history = await ClaimHistory.open(fixture.admin.client, fixture.namespace)
  await fixture.write('values.yaml', UNSCHEDULABLE)
  operator = await fixture.start('only')
  await operator.whenReady()
})

afterAll(async () => {
  await history.close()
  await fixture.close()
})

interface Caller {
  readonly answer: Promise<Answer | undefined>
  leave(): void
}

function call(body: object = {}, key?: string): Caller {
  const abort = new AbortController()
  const answer = operator.post('/claim', body, { key, signal: abort.signal }).catch((error: unknown) => {
    if (!abort.signal.aborted) throw error
    return undefined
  })
  return { answer, leave: () => abort.abort() }
}

/** Claims that exist and that no test before has seen. */
const seen = new Set<string>()
async function waiting(count: number): Promise<readonly Track[]> {
  const found = (): readonly Track[] =>
    history.claims.filter((claim) => claim.deletedAt === undefined && !seen.has(claim.uid))
  await until(`${count} claims wait with their children`, () => {
    const claims = found()
    return claims.length === count && claims.every((claim) => history.childrenOf(claim).length >= 2)
  })
  for (const { uid } of found()) seen.add(uid)
  return history.claims.filter((claim) => claim.deletedAt === undefined)
}

/** Waits until claims and children are gone, and checks how long that took. */
async function expectEnd(claims: readonly Track[], decided: number): Promise<void> {
  await until('the claims and their children are gone', () =>
    claims.every((claim) => [claim, ...history.childrenOf(claim)].every(({ deletedAt }) => deletedAt !== undefined)),
  )
  for (const claim of claims) {
    const { deletedAt = Infinity } = claim
    expect(deletedAt - decided).toBeLessThan(MAX_LATENESS_MS)
    for (const child of history.childrenOf(claim)) {
      expect((child.deletedAt ?? Infinity) - deletedAt).toBeLessThan(MAX_COLLECTION_MS)
    }
  }
}

test('the claims of callers that disconnect are deleted with their children', async () => {
  const callers = Array.from({ length: 8 }, () => call())
  const claims = await waiting(callers.length)
  expect(claims.map((claim) => lastState(claim).status)).not.toContain('ready')
  for (const { leave } of callers) leave()
  await expectEnd(claims, Date.now())
})

test('a claim of two callers with one key is deleted when both have disconnected', async () => {
  const [first, second] = [call({}, 'shared'), call({}, 'shared')]
  const [claim] = await waiting(1)
  if (!claim) throw new Error('There is no claim')
  first.leave()
  await first.answer
  const third = call({}, 'shared')
  expect(claim.deletedAt).toBeUndefined()
  for (const { leave } of [second, third]) leave()
  await expectEnd([claim], Date.now())
})

test('a claim that is released while its caller waits ends the wait at once', async () => {
  const { answer } = call()
  const [claim] = await waiting(1)
  const id = claim?.name.replace('claim-', '') ?? ''
  expect((await operator.release(id)).status).toBe(204)
  const released = Date.now()
  const { at = Infinity, status, text } = (await answer) ?? {}
  expect([status, text]).toEqual([500, expect.stringMatching(/^failed while waiting for claim readiness: .*released/)])
  expect(at - released).toBeLessThan(MAX_LATENESS_MS)
  expect((await operator.release(id)).status).toBe(404)
})

test('a claim that expires while its caller waits ends the wait at its expiry', async () => {
  const { answer } = call({ ttl: '2s' })
  const [claim] = await waiting(1)
  if (!claim) throw new Error('There is no claim')
  const { expiresAt } = lastState(claim)
  const { at = Infinity, status } = (await answer) ?? {}
  expect(status).toBe(500)
  expect(at).toBeGreaterThanOrEqual(expiresAt)
  expect(at - expiresAt).toBeLessThan(MAX_LATENESS_MS)
  await expectEnd([claim], expiresAt)
})

test('callers of a replica that stops get an answer, and their claims are deleted', async () => {
  const callers = [call(), call({}, 'stopping')]
  const claims = await waiting(callers.length)
  const stopped = operator.child.signal('SIGTERM')
  const answers = await Promise.all(callers.map(({ answer }) => answer))
  expect(answers.map((answer) => answer?.status)).toEqual([503, 503])
  const { at, code } = await operator.child.ended
  expect(code).toBe(0)
  expect(at - stopped).toBeLessThan(MAX_STOP_MS)
  expect(operator.complaints).toEqual([])
  expect(claims.every(({ deletedAt }) => deletedAt !== undefined)).toBe(true)
  await until('nothing is left', () => history.existing.length === 0)
})
