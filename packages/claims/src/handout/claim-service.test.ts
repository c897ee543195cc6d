import { isNotFound } from '@tenure/kube'
import { ConfigMap, Event, Pod, Secret } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { ANNOTATIONS, DATA, LABELS } from '../api/names.ts'
import { ClaimsFixture, LAZY_SECRET, MINUTE, NAMESPACE, type PoolFixture, TEMPLATE } from '../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools?: Readonly<Record<string, PoolFixture>>): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const at = (name: string) => ({ name, namespace: NAMESPACE })

describe('a warm claim', () => {
  test('a member of the pool is handed out by one write, and the pool is filled again', async () => {
    const { clock } = await setup()
    const replica = await fixture.replica()
    await fixture.warm(2)
    const taken = await fixture.take(replica, { ttl: 5 * MINUTE })
    expect(taken).toMatchObject({ isPreProvisioned: true, data: { host: `claim-${taken.id}.default` } })
    expect(taken.expiresAt).toBe(Math.ceil((clock.now() + 5 * MINUTE) / 1_000) * 1_000)
    const stored = await fixture.api.get(ConfigMap, at(`claim-${taken.id}`))
    expect(stored.metadata.annotations).toMatchObject({
      [ANNOTATIONS.preProvisioned]: 'true',
      [ANNOTATIONS.claimedAt]: expect.stringMatching(/Z$/),
    })
    expect(stored.data?.[DATA.status]).toBe('ready')
    await fixture.warm(2)
    expect(await fixture.claims()).toHaveLength(3)
  })

  test('concurrent calls never get the same claim, and the pool returns to exactly its target', async () => {
    await setup({ default: { count: 3 } })
    const replica = await fixture.replica()
    await fixture.warm(3)
    const taken = await Promise.all(Array.from({ length: 10 }, () => fixture.take(replica)))
    expect(new Set(taken.map(({ id }) => id)).size).toBe(10)
    expect(taken.filter(({ isPreProvisioned }) => isPreProvisioned).length).toBeGreaterThanOrEqual(3)
    await fixture.warm(3)
    await fixture.clock.advance(5_000)
    expect(await fixture.idle()).toHaveLength(3)
    expect(await fixture.claims()).toHaveLength(13)
  })

  test('two replicas hand out different members', async () => {
    await setup({ default: { count: 6 } })
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    await fixture.warm(6)
    const taken = await Promise.all(
      Array.from({ length: 6 }, (_, number) => fixture.take(number % 2 ? leader : follower)),
    )
    expect(new Set(taken.map(({ id }) => id)).size).toBe(6)
  })
})

describe('a cold claim', () => {
  test('it is made for the caller, who gets it when its resources are ready', async () => {
    await setup({ default: { count: 0 } })
    const replica = await fixture.replica()
    const taken = await fixture.take(replica)
    expect(taken.isPreProvisioned).toBe(false)
    const pod = await fixture.api.get(Pod, at(`claim-${taken.id}`))
    expect(pod.status?.phase).toBe('Running')
    expect(pod.metadata.labels?.[LABELS.claim]).toBe(`claim-${taken.id}`)
    expect(pod.metadata.ownerReferences).toMatchObject([{ kind: 'ConfigMap', controller: true }])
  })

  test('a caller that disconnects leaves nothing behind', async () => {
    await setup({
      default: {
        count: 0,
        template: TEMPLATE.replace('{{ .Values.image }}', 'x, readinessProbe: {exec: {command: [a]}}'),
      },
    })
    const replica = await fixture.replica({ leads: false })
    const caller = new AbortController()
    const call = fixture.take(replica, { signal: caller.signal })
    call.catch(() => undefined)
    await fixture.until(async () => (await fixture.claims()).length === 1)
    caller.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
    await fixture.until(async () => (await fixture.claims()).length === 0)
    expect(await fixture.children(Pod)).toEqual([])
  })

  test('a wait that is too long ends with 504, and the claim is gone', async () => {
    await setup({ default: { count: 0 } })
    const replica = await fixture.replica({ leads: false })
    await expect(fixture.take(replica)).rejects.toMatchObject({
      status: 504,
      message: 'timed out waiting for claim resources to become ready',
    })
    await fixture.until(async () => (await fixture.claims()).length === 0)
    expect((await replica.metrics.expose()).text).toContain('claim_controller_timedout_claims_total 1')
  })

  test('a template that cannot be rendered is a clear error, and other pools go on', async () => {
    await setup({ default: { template: '{{ fail "no luck" }}' }, other: {} })
    const replica = await fixture.replica()
    await expect(fixture.take(replica)).rejects.toMatchObject({
      status: 500,
      message: expect.stringMatching(/^failed to create claim: .*no luck/),
    })
    await expect(fixture.take(replica, { pool: 'other' })).resolves.toMatchObject({ isPreProvisioned: false })
    expect(await fixture.claims()).toHaveLength(1)
  })

  test.each([
    ['an unknown kind', 'apiVersion: example.dev/v1\nkind: Nothing\nmetadata: {name: a}', /no such kind/],
    ['a cluster-scoped object', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}', /cluster-scoped/],
    ['nothing', '# nothing', /no resources/],
  ])('a template that renders %s is refused with the reason', async (_, template, reason) => {
    await setup({ default: { template } })
    const replica = await fixture.replica()
    await expect(fixture.take(replica)).rejects.toMatchObject({ status: 500, message: expect.stringMatching(reason) })
    expect(await fixture.claims()).toEqual([])
  })

  test("an object of the same name that is not the claim's fails the claim and is never touched", async () => {
    await setup({ default: { template: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\ndata: {a: ours}' } })
    await fixture.api.create(ConfigMap, { metadata: at('fixed'), data: { a: 'theirs' } })
    const replica = await fixture.replica()
    await expect(fixture.take(replica)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('ConfigMap fixed already exists'),
    })
    await fixture.until(async () => (await fixture.claims()).length === 0)
    expect((await fixture.api.get(ConfigMap, at('fixed'))).data).toEqual({ a: 'theirs' })
  })

  test('an unknown pool is 404', async () => {
    await setup()
    const replica = await fixture.replica()
    await expect(fixture.take(replica, { pool: 'x' })).rejects.toMatchObject({
      status: 404,
      message: 'unknown pool "x"',
    })
  })
})

describe('lazy resources and values', () => {
  test('a lazy resource is created at the hand-out, with the values of the caller, which no ConfigMap shows', async () => {
    await setup({ default: { count: 1, template: TEMPLATE + LAZY_SECRET } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    expect((await fixture.children(Secret)).filter(({ metadata }) => metadata.name.endsWith('-user'))).toEqual([])
    const taken = await fixture.take(replica, { values: { user: 'hunter2' } })
    const secret = await fixture.api.get(Secret, at(`claim-${taken.id}-user`))
    expect(Buffer.from(secret.data?.['user'] ?? '', 'base64').toString()).toBe('hunter2')
    const { items } = await fixture.api.list(ConfigMap, { namespace: NAMESPACE })
    expect(JSON.stringify(items)).not.toContain('hunter2')
    expect(JSON.stringify((await fixture.api.list(Event, { namespace: NAMESPACE })).items)).not.toContain('hunter2')
  })

  test('a Secret that is deleted is created again', async () => {
    await setup({ default: { template: TEMPLATE + LAZY_SECRET } })
    const replica = await fixture.replica()
    const taken = await fixture.take(replica, { values: { user: 'ada' } })
    const name = `claim-${taken.id}-user`
    const { uid } = (await fixture.api.get(Secret, at(name))).metadata
    await fixture.api.delete(Secret, at(name))
    const again = await fixture.until(() =>
      fixture.api.get(Secret, at(name)).catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      }),
    )
    expect(again?.metadata.uid).not.toBe(uid)
    expect(Buffer.from(again?.data?.['user'] ?? '', 'base64').toString()).toBe('ada')
  })

  test('values that the schema refuses are 400', async () => {
    await setup()
    const replica = await fixture.replica()
    await expect(fixture.take(replica, { values: { user: {} } })).rejects.toMatchObject({ status: 400 })
  })
})

describe('renewal, release and expiry', () => {
  test('a claim expires with its resources at its time and not before', async () => {
    const { clock } = await setup({ default: {} })
    const replica = await fixture.replica()
    const taken = await fixture.take(replica, { ttl: MINUTE })
    await clock.advance(taken.expiresAt - clock.now() - 200)
    expect(await fixture.claims()).toHaveLength(1)
    await clock.advance(2_200)
    expect(await fixture.claims()).toEqual([])
    expect(await fixture.children(Pod)).toEqual([])
    expect((await replica.metrics.expose()).text).toContain('claim_controller_claim_lifetime_duration_seconds_count 1')
  })

  test('a renewal extends up to the maximum and never shortens', async () => {
    const { clock } = await setup({ default: { maxTtl: 20 * MINUTE } })
    const replica = await fixture.replica()
    const { expiresAt, id } = await fixture.take(replica, { ttl: 5 * MINUTE })
    const renew = (ttl: number) => fixture.whilePassing(replica.service.renew(id, ttl))
    expect(await renew(MINUTE)).toBe(expiresAt)
    const longer = await renew(8 * MINUTE)
    expect(longer).toBeGreaterThan(expiresAt)
    const longest = await renew(120 * MINUTE)
    expect(longest - expiresAt).toBe(15 * MINUTE)
    await clock.advance(longest - clock.now() - 1_000)
    expect(await fixture.claims()).toHaveLength(1)
    await clock.advance(3_000)
    await expect(renew(MINUTE)).rejects.toMatchObject({ status: 404, message: 'claim not found' })
  })

  test('a released claim is gone with its resources, and a second release is 404', async () => {
    const { clock } = await setup({ default: {} })
    const replica = await fixture.replica()
    const { id } = await fixture.take(replica)
    await fixture.whilePassing(replica.service.release(id))
    await clock.advance(2_000)
    expect(await fixture.claims()).toEqual([])
    expect(await fixture.children(Pod)).toEqual([])
    await expect(fixture.whilePassing(replica.service.release(id))).rejects.toMatchObject({ status: 404 })
  })

  test('a ConfigMap that is not a claim is 403, and a member of the pool is 404', async () => {
    await setup()
    await fixture.api.create(ConfigMap, { metadata: at('claim-other') })
    const replica = await fixture.replica()
    await fixture.warm(2)
    const [member] = await fixture.idle()
    await expect(fixture.whilePassing(replica.service.release('other'))).rejects.toMatchObject({ status: 403 })
    await expect(fixture.whilePassing(replica.service.release(member?.id ?? ''))).rejects.toMatchObject({ status: 404 })
  })

  test('a claim that is released while its caller waits ends the wait at once', async () => {
    const { clock } = await setup({ default: {} })
    const replica = await fixture.replica({ leads: false })
    const call = fixture.take(replica)
    call.catch(() => undefined)
    const [claim] = (await fixture.until(async () => {
      const found = await fixture.claims()
      return found.length > 0 && found
    })) as Awaited<ReturnType<ClaimsFixture['claims']>>
    const before = clock.now()
    await fixture.whilePassing(replica.service.release(claim?.id ?? ''))
    await expect(call).rejects.toMatchObject({ status: 500, message: expect.stringContaining('released') })
    expect(clock.now() - before).toBeLessThan(2_000)
  })
})

describe('keys and shares', () => {
  test('the same key gives the same claim, from any replica and at the same time', async () => {
    await setup({ default: { count: 4 } })
    const [leader, follower] = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    await fixture.warm(4)
    const request = { idempotencyKey: 'job-1' }
    const taken = await Promise.all([leader, follower, leader, follower].map((each) => fixture.take(each, request)))
    expect(new Set(taken.map(({ id }) => id)).size).toBe(1)
    expect((await fixture.take(follower, request)).id).toBe(taken[0]?.id)
    await expect(fixture.take(follower, { ...request, ttl: MINUTE })).rejects.toMatchObject({ status: 409 })
    await fixture.warm(4)
    expect((await fixture.claims()).filter(({ isIdle }) => !isIdle)).toHaveLength(1)
    await fixture.whilePassing(leader.service.release(taken[0]?.id ?? ''))
    expect((await fixture.take(follower, request)).id).not.toBe(taken[0]?.id)
  })

  test('a caller has at most its share', async () => {
    await setup({ default: { count: 3 } })
    const replica = await fixture.replica({ maxClaimsPerCaller: 2 })
    await fixture.warm(3)
    const { id } = await fixture.take(replica)
    await fixture.take(replica)
    await expect(fixture.take(replica)).rejects.toMatchObject({ status: 429, retryAfter: expect.any(Number) })
    await expect(fixture.take(replica, { caller: 'another' })).resolves.toBeDefined()
    await fixture.whilePassing(replica.service.release(id))
    await expect(fixture.take(replica)).resolves.toBeDefined()
  })
})
