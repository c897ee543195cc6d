import { type Kind, mergePatch, type TransportRequest } from '@tenure/kube'
import { ConfigMap, Event, Pod, Secret } from '@tenure/kube/kinds'
import { afterEach, describe, expect, test } from 'vitest'
import { LABELS } from '../../api/names.ts'
import {
  ClaimsFixture,
  MINUTE,
  NAMESPACE,
  type PoolFixture,
  type Replica,
  TEMPLATE,
} from '../../testing/claims-fixture.ts'

let fixture: ClaimsFixture

async function setup(pools?: Readonly<Record<string, PoolFixture>>): Promise<ClaimsFixture> {
  fixture = await ClaimsFixture.create(pools)
  return fixture
}

afterEach(async () => {
  await fixture.close()
})

const simulated = (annotation: string): string =>
  TEMPLATE.replace('annotations:', `annotations:\n    tenure.dev/simulate-${annotation}`)
const WITH_SECRET = `${TEMPLATE}---\napiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}"}\nstringData: {a: b}\n`

async function ids(): Promise<ReadonlySet<string>> {
  return new Set((await fixture.idle()).map(({ id }) => id))
}

async function orphans(): Promise<readonly string[]> {
  const names = new Set((await fixture.claims()).map(({ object }) => object.metadata.name))
  const kinds: readonly Kind[] = [Pod, ConfigMap, Secret]
  const children = (await Promise.all(kinds.map((kind) => fixture.children(kind)))).flat()
  return children
    .filter(({ metadata }) => !names.has(metadata.labels?.[LABELS.claim] ?? ''))
    .map(({ metadata }) => metadata.name)
}

async function events(reason: string): Promise<readonly string[]> {
  const { items } = await fixture.api.list(Event, { namespace: NAMESPACE })
  return items.filter((event) => event.reason === reason).map(({ note = '' }) => note)
}

describe('the size of a pool', () => {
  test('lowering it removes members, pending ones and the youngest first, and raising it adds some', async () => {
    await setup({ default: { count: 5 } })
    const first = await fixture.replica()
    await fixture.warm(5)
    await first.stop()
    fixture.configure('default', { count: 2 })
    const second = await fixture.replica()
    await fixture.until(async () => (await fixture.idle()).length === 2)
    await fixture.clock.advance(2_000)
    expect(await orphans()).toEqual([])
    await second.stop()
    fixture.configure('default', { count: 4 })
    await fixture.replica()
    await fixture.warm(4)
  })

  test('a pool that is no longer configured loses its members, and claimed ones stay', async () => {
    await setup({ default: {}, chrome: { count: 2 } })
    const first = await fixture.replica()
    await fixture.warm(2, 'chrome')
    const { id } = await fixture.take(first, { pool: 'chrome' })
    await fixture.warm(2, 'chrome')
    await first.stop()
    fixture.configure('chrome', undefined)
    const second = await fixture.replica()
    await fixture.until(async () => (await fixture.claims()).length === 1)
    expect((await fixture.claims())[0]?.id).toBe(id)
    expect(await fixture.whilePassing(second.service.renew(id, 12 * MINUTE))).toBeGreaterThan(fixture.clock.now())
    await fixture.whilePassing(second.service.release(id))
  })

  test('it follows demand, and falls only after the cooldown', async () => {
    const { clock } = await setup({ default: { spare: 2, min: 3, max: 6, cooldown: 5 * MINUTE } })
    const replica = await fixture.replica()
    await fixture.warm(3)
    const taken = [await fixture.take(replica), await fixture.take(replica), await fixture.take(replica)]
    await fixture.warm(2)
    for (let number = 0; number < 3; number++) taken.push(await fixture.take(replica))
    // Claimed and idle members together are never more than the maximum.
    await clock.advance(MINUTE)
    expect(await fixture.claims()).toHaveLength(6)
    for (const { id } of taken) await fixture.whilePassing(replica.service.release(id))
    await clock.advance(MINUTE)
    expect((await fixture.idle()).length).toBeGreaterThan(3)
    await clock.advance(5 * MINUTE)
    expect(await fixture.idle()).toHaveLength(3)
  })

  test('only the leader fills it', async () => {
    const { clock } = await setup({ default: { count: 2 } })
    await fixture.replica({ leads: false })
    await clock.advance(MINUTE)
    expect(await fixture.claims()).toEqual([])
  })

  test('it is exact after many claims at once, from two replicas', async () => {
    const { clock } = await setup({ default: { count: 7 } })
    const replicas = [await fixture.replica(), await fixture.replica({ leads: false, seed: 9 })]
    await fixture.warm(7)
    let most = 0
    const end = replicas[0]?.view.informer.subscribe(() => {
      const idle = replicas[0]?.view.all().filter(({ isIdle }) => isIdle).length ?? 0
      most = Math.max(most, idle)
    })
    const taken = await Promise.all(
      Array.from({ length: 30 }, (_, number) => fixture.take(replicas[number % 2] as Replica)),
    )
    await fixture.warm(7)
    await clock.advance(10_000)
    end?.()
    expect(most).toBe(7)
    expect(await fixture.idle()).toHaveLength(7)
    expect(new Set(taken.map(({ id }) => id)).size).toBe(30)
  })
})

describe('members are replaced', () => {
  test('a change of the template or the values replaces idle members and never claimed ones', async () => {
    const { clock } = await setup({ default: { count: 2 } })
    const replica = await fixture.replica()
    await fixture.warm(2)
    const { id } = await fixture.take(replica)
    await fixture.warm(2)
    for (const change of [
      () => fixture.templates.get('default')?.change(`${TEMPLATE}# new\n`),
      () => fixture.templates.get('default')?.change(TEMPLATE, 'image: other'),
    ]) {
      const before = await ids()
      change()
      await fixture.until(async () => (await ids()).isDisjointFrom(before))
      await fixture.warm(2)
    }
    const pods = await fixture.children(Pod)
    expect(pods.filter(({ spec }) => spec?.containers[0]?.image === 'other')).toHaveLength(2)
    await clock.advance(2_000)
    expect((await fixture.claims()).filter(({ isIdle }) => !isIdle).map((claim) => claim.id)).toEqual([id])
    expect(await orphans()).toEqual([])
  })

  test('a claim after a change of the values gets the new values, also if no new member is ready', async () => {
    await setup({ default: { count: 1 } })
    const replica = await fixture.replica()
    await fixture.warm(1)
    fixture.templates.get('default')?.change(TEMPLATE, 'image: other')
    const { id } = await fixture.take(replica)
    expect((await fixture.api.get(Pod, { name: `claim-${id}`, namespace: NAMESPACE })).spec?.containers[0]?.image).toBe(
      'other',
    )
  })

  test.each([
    ['failed', { phase: 'Failed', reason: 'OOMKilled' }],
    ['evicted', { phase: 'Failed', reason: 'Evicted', message: 'low on disk' }],
    [
      'on a drained node',
      { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }] },
    ],
  ])('a member whose pod is %s is replaced at once, and a claimed one is not', async (_, status) => {
    const { clock } = await setup({ default: { count: 2 } })
    const replica = await fixture.replica()
    await fixture.warm(2)
    const { id: claimed } = await fixture.take(replica)
    await fixture.warm(2)
    const [member] = await fixture.idle()
    for (const id of [member?.id ?? '', claimed]) {
      const ref = { name: `claim-${id}`, namespace: NAMESPACE }
      await fixture.api.patch(Pod, ref, mergePatch({ status }), { subresource: 'status' })
    }
    await clock.advance(3_000)
    await fixture.warm(2)
    expect((await ids()).has(member?.id ?? '')).toBe(false)
    expect((await fixture.claims()).map(({ id }) => id)).toContain(claimed)
    expect((await events('MemberReplaced')).join()).toContain('it cannot become ready')
  })

  test('a member whose pod is deleted gets another pod', async () => {
    await setup({ default: { count: 1 } })
    await fixture.replica()
    await fixture.warm(1)
    const [pod] = await fixture.children(Pod)
    await fixture.api.delete(Pod, { name: pod?.metadata.name ?? '', namespace: NAMESPACE })
    await fixture.until(async () => {
      const [next] = await fixture.children(Pod)
      return next !== undefined && next.metadata.uid !== pod?.metadata.uid
    })
    await fixture.warm(1)
    expect(await fixture.children(Pod)).toHaveLength(1)
  })
})

describe('a pool whose members fail', () => {
  test('a broken image makes at most 12 members in 10 minutes, says why, and a fix starts afresh at once', async () => {
    const { clock } = await setup({
      default: { count: 20, template: simulated('pull-failure: "no such image"') },
      other: { count: 2 },
    })
    const replica = await fixture.replica()
    let created = 0
    const end = replica.view.informer.subscribe(({ object, type }) => {
      if (type === 'added' && object.metadata.labels?.[LABELS.pool] === 'default') created++
    })
    await fixture.warm(2, 'other')
    const taken = await fixture.take(replica, { pool: 'other' })
    expect(taken.isPreProvisioned).toBe(true)
    await clock.advance(10 * MINUTE)
    expect(created).toBeGreaterThan(4)
    expect(created).toBeLessThanOrEqual(12)
    const [member] = await fixture.idle()
    expect(member).toMatchObject({
      status: 'pending',
      failure: 'stuck',
      message: expect.stringContaining('no such image'),
    })
    expect((await events('PoolFailing')).join()).toContain('no such image')
    expect(replica.reports.histories.get('default')?.lastFailure).toContain('no such image')
    expect(await replica.exposed()).toContain('claim_controller_pool_failing{pool="default"} 1')
    const before = clock.now()
    fixture.templates.get('default')?.change(TEMPLATE)
    await fixture.warm(20)
    expect(clock.now() - before).toBeLessThan(5_000)
    expect(await replica.exposed()).toContain('claim_controller_pool_failing{pool="default"} 0')
    await fixture.until(async () => (await events('PoolRecovered')).length === 1)
    end()
  })

  test('a container that gets ready and crashes does not make members without end', async () => {
    const { clock } = await setup({
      default: { count: 3, template: simulated('exit-after: 2s\n    tenure.dev/simulate-exit-code: "1"') },
    })
    const replica = await fixture.replica()
    let created = 0
    const end = replica.view.informer.subscribe(({ type }) => {
      if (type === 'added') created++
    })
    await clock.advance(10 * MINUTE)
    end()
    expect(created).toBeLessThanOrEqual(12)
  })

  test('ready members are still handed out, and one failure of a pool that works is replaced at once', async () => {
    const { clock } = await setup({ default: { count: 3 } })
    const replica = await fixture.replica()
    await fixture.warm(3)
    const [member] = await fixture.idle()
    await fixture.api.patch(
      Pod,
      { name: `claim-${member?.id}`, namespace: NAMESPACE },
      mergePatch({ status: { phase: 'Failed' } }),
      { subresource: 'status' },
    )
    const before = clock.now()
    expect((await fixture.take(replica)).isPreProvisioned).toBe(true)
    await fixture.warm(3)
    expect(clock.now() - before).toBeLessThan(3_000)
  })

  test('claims that their callers break do not slow the pool down', async () => {
    const { clock } = await setup({ default: { count: 2 } })
    const replica = await fixture.replica()
    for (let number = 0; number < 6; number++) {
      await fixture.warm(2)
      const { id } = await fixture.take(replica)
      await fixture.api.patch(
        Pod,
        { name: `claim-${id}`, namespace: NAMESPACE },
        mergePatch({ status: { phase: 'Failed' } }),
        { subresource: 'status' },
      )
      await clock.advance(1_000)
    }
    const before = clock.now()
    await fixture.warm(2)
    expect(clock.now() - before).toBeLessThan(2_000)
    expect(replica.reports.histories.get('default')?.failures).toBe(0)
  })
})

describe('refilling', () => {
  test('slow claims and a slow API server for one write do not block it', async () => {
    const { clock } = await setup({ default: { count: 8 }, slow: { template: simulated('ready: never') } })
    let isFirst = false
    const replica = await fixture.replica({
      faults: ({ method, path }) => {
        const isSlow = isFirst && method === 'POST' && path.includes('/configmaps')
        if (isSlow) isFirst = false
        return isSlow ? { delay: 20_000 } : undefined
      },
    })
    await fixture.warm(8)
    const slow = Array.from({ length: 20 }, () => fixture.take(replica, { pool: 'slow' }))
    for (const call of slow) call.catch(() => undefined)
    await clock.advance(1_000)
    isFirst = true
    for (let number = 0; number < 8; number++) await fixture.take(replica)
    const before = clock.now()
    await fixture.until(async () => (await fixture.idle()).filter(({ status }) => status === 'ready').length >= 7)
    expect(clock.now() - before).toBeLessThan(3_000)
    await Promise.allSettled(slow)
  })
})

test.each([
  ['plain', TEMPLATE],
  ['with a Secret', WITH_SECRET],
])(
  'a leader that dies after any of its writes leaves no orphan, and the next one reaches the target (%s)',
  async (_, template) => {
    await setup({ default: { count: 2, template } })
    const { clock } = fixture
    for (let number = 1; number <= 14; number++) {
      let writes = 0
      const isDead = (): boolean => writes > number
      const leader = await fixture.replica({
        seed: number,
        faults: ({ method, path }: TransportRequest) => {
          if (path.includes('/events')) return isDead() ? { isLost: true } : undefined
          if (method !== 'GET') writes++
          // The last write is carried out, and its response is lost.
          return isDead()
            ? { isLost: true }
            : writes === number && method !== 'GET'
              ? { isResponseLost: true }
              : undefined
        },
      })
      await clock.advance(3_000)
      await leader.crash()
      const next = await fixture.replica({ seed: 100 + number })
      await fixture.warm(2)
      await clock.advance(15_000)
      expect(await fixture.claims()).toHaveLength(2)
      expect((await fixture.idle()).filter(({ status }) => status === 'ready')).toHaveLength(2)
      expect(await orphans()).toEqual([])
      await next.stop()
      // The next round begins with an empty pool.
      for (const { object } of await fixture.claims()) await fixture.api.delete(ConfigMap, object.metadata)
      await clock.advance(3_000)
    }
  },
  60_000,
)
