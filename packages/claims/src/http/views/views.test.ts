import { afterEach, describe, expect, test } from 'vitest'
import {
  ClaimsFixture,
  MINUTE,
  NAMESPACE,
  type PoolFixture,
  type Replica,
  TEMPLATE,
} from '../../testing/claims-fixture.ts'
import type { ClaimRow } from './claims-view.ts'
import type { PoolRow } from './pools-view.ts'

let fixture: ClaimsFixture

async function setup(pools: Readonly<Record<string, PoolFixture>> = { default: { count: 2 } }): Promise<Replica> {
  fixture = await ClaimsFixture.create(pools)
  return await fixture.replica()
}

afterEach(async () => {
  await fixture.close()
})

function viewOf({ views }: Replica, name: string) {
  const view = views.find((each) => each.name === name)
  if (!view) throw new Error(`no view ${name}`)
  return view
}

const claimRows = (replica: Replica) => [...viewOf(replica, 'claims').rows()] as ClaimRow[]
const claimRow = (replica: Replica, id: string) => viewOf(replica, 'claims').row(id) as ClaimRow | undefined
const poolRow = (replica: Replica, name = 'default') => viewOf(replica, 'pools').row(name) as PoolRow | undefined

/** The ids that a view announces from now on. */
function listen(replica: Replica, name: string): { readonly told: string[]; readonly end: () => void } {
  const told: string[] = []
  return { told, end: viewOf(replica, name).subscribe((id) => told.push(id)) }
}

describe('the view of claims', () => {
  test('a claim is a row in the pool, with its holder and until its release, and each change is announced', async () => {
    const replica = await setup()
    const { end, told } = listen(replica, 'claims')
    await fixture.warm(2)
    const idle = claimRows(replica)
    expect(idle).toHaveLength(2)
    for (const row of idle) {
      expect(row).toMatchObject({
        pool: 'default',
        status: 'ready',
        isIdle: true,
        preProvisioned: true,
        namespace: NAMESPACE,
      })
      expect(row).not.toHaveProperty('expiresAt')
    }
    expect(told).toEqual(expect.arrayContaining(idle.map(({ id }) => id)))
    told.length = 0
    const { expiresAt, id } = await fixture.take(replica, { ttl: 5 * MINUTE })
    const row = claimRow(replica, id)
    expect(row).toMatchObject({
      id,
      name: `claim-${id}`,
      isIdle: false,
      preProvisioned: true,
      expiresAt,
      data: { host: `claim-${id}.${NAMESPACE}` },
      message: 'all resources ready',
    })
    expect(row?.claimedAt).toEqual(expect.any(Number))
    expect(row?.resources).toEqual([
      { kind: 'Pod', name: `claim-${id}`, ready: true, message: expect.any(String) },
      { kind: 'ConfigMap', name: `claim-${id}-settings`, ready: true, message: expect.any(String) },
    ])
    expect(told).toContain(id)
    told.length = 0
    await fixture.whilePassing(replica.service.renew(id, 9 * MINUTE))
    expect(claimRow(replica, id)?.expiresAt).toBeGreaterThan(expiresAt)
    expect(told).toContain(id)
    told.length = 0
    await fixture.whilePassing(replica.service.release(id))
    await fixture.clock.advance(1_000)
    expect(claimRow(replica, id)).toBeUndefined()
    expect(told).toContain(id)
    end()
    told.length = 0
    await fixture.take(replica)
    expect(told).toEqual([])
  })

  test('what a listener missed is in the rows, and existing claims are not announced to it', async () => {
    const replica = await setup()
    await fixture.warm(2)
    const { end, told } = listen(replica, 'claims')
    expect(told).toEqual([])
    expect(claimRows(replica)).toHaveLength(2)
    end()
  })

  test('return values that only a Secret has are not in the row', async () => {
    const secret = `
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-user
  annotations: {claim.controller/return: "password=hunter2"}
stringData: {password: hunter2}
`
    const replica = await setup({ default: { template: `${TEMPLATE}${secret}` } })
    const { data, id } = await fixture.take(replica)
    expect(data).toMatchObject({ password: 'hunter2' })
    expect(JSON.stringify(claimRow(replica, id))).not.toContain('hunter2')
  })
})

describe('the view of pools', () => {
  test('a pool counts its members and its claims, and measures hand-outs by their source', async () => {
    const replica = await setup({ default: { count: 2 }, empty: { count: 0 } })
    expect([...viewOf(replica, 'pools').rows()].map(({ id }) => id)).toEqual(['default', 'empty'])
    await fixture.warm(2)
    expect(poolRow(replica)).toMatchObject({
      id: 'default',
      name: 'default',
      namespace: NAMESPACE,
      target: 2,
      warm: 2,
      claimed: 0,
      pending: 0,
      failing: 0,
      claimsWarm: 0,
      claimsCold: 0,
      defaultTtl: 10 * MINUTE,
      maxTtl: 30 * MINUTE,
    })
    const { end, told } = listen(replica, 'pools')
    await fixture.take(replica)
    expect(told).toContain('default')
    expect(poolRow(replica)).toMatchObject({ claimed: 1, claimsWarm: 1, claimsCold: 0 })
    // The row is complete when it is announced for the last time.
    let announced: PoolRow | undefined
    const endReading = viewOf(replica, 'pools').subscribe((id) => {
      if (id === 'empty') announced = poolRow(replica, 'empty')
    })
    await fixture.take(replica, { pool: 'empty' })
    endReading()
    expect(announced).toMatchObject({ claimed: 1, claimsCold: 1 })
    const row = poolRow(replica, 'empty')
    expect(row).toMatchObject({ target: 0, claimed: 1, claimsWarm: 0, claimsCold: 1 })
    const { count, counts = [], le = [], sum } = row?.handoutSeconds ?? {}
    expect(count).toBe(1)
    expect(sum).toBeGreaterThan(0)
    expect(counts).toHaveLength(le.length + 1)
    expect(counts.at(-1)).toBe(1)
    expect(le).toEqual(le.toSorted((a, b) => a - b))
    expect(poolRow(replica, 'nothing')).toBeUndefined()
    end()
  })

  test('a pool whose members fail says why and when it is tried again', async () => {
    const template = TEMPLATE.replace(
      'annotations:',
      'annotations:\n    tenure.dev/simulate-pull-failure: "no such image"',
    )
    const replica = await setup({ default: { count: 1, template } })
    const { end, told } = listen(replica, 'pools')
    await fixture.until(() => Promise.resolve(poolRow(replica)?.failedUntil !== undefined))
    const row = poolRow(replica)
    expect(row?.lastFailure).toContain('no such image')
    expect(row?.failedUntil).toBeGreaterThan(fixture.clock.now())
    expect(told).toContain('default')
    end()
  })

  test('a template that cannot be used is the last failure of its pool, at once', async () => {
    const replica = await setup()
    await fixture.warm(2)
    const { end, told } = listen(replica, 'pools')
    fixture.templates.get('default')?.change('{{ broken')
    expect(told).toEqual(['default'])
    expect(poolRow(replica)?.lastFailure).toEqual(expect.any(String))
    fixture.templates.get('default')?.change(TEMPLATE)
    expect(poolRow(replica)?.lastFailure).toBeUndefined()
    end()
  })

  test('a pool that follows demand has the target of the leader, and another replica its own guess', async () => {
    const leader = await setup({ default: { spare: 1, min: 0, max: 9, cooldown: 5 * MINUTE } })
    const follower = await fixture.replica({ leads: false, seed: 9 })
    await fixture.warm(1)
    const taken = [await fixture.take(leader), await fixture.take(leader)]
    await fixture.until(() => Promise.resolve(poolRow(leader)?.warm === 1))
    for (const { id } of taken) await fixture.whilePassing(leader.service.release(id))
    await fixture.until(() => Promise.resolve(poolRow(leader)?.claimed === 0 && poolRow(leader)?.target === 3))
    expect(poolRow(follower)?.target).toBe(1)
  })
})
