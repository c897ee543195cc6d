import { afterEach, describe, expect, test } from 'vitest'
import { claimController } from './commands.ts'
import { hasTools, POLL_OPTIONS, Terminal } from './terminal.ts'

interface Taken {
  readonly id: string
  readonly data: Readonly<Record<string, string>>
  readonly expiresAt: string
  readonly preProvisioned: boolean
}
interface Pools {
  readonly pools: readonly { readonly name: string; readonly ready: number; readonly claimed: number }[]
}

let terminal: Terminal

afterEach(() => terminal.close())

async function start(): Promise<void> {
  terminal = new Terminal()
  const address = `127.0.0.1:${await terminal.port(8080)}`
  await terminal.startTenure('npm start', 3000, { API_ADDR: address })
  await warm()
}

async function warm(): Promise<void> {
  await expect
    .poll(() => terminal.ask<Pools>('curl http://localhost:8080/claims'), POLL_OPTIONS)
    .toMatchObject({ pools: [{ name: 'default', ready: 3 }] })
}

const secondsUntil = ({ expiresAt }: Pick<Taken, 'expiresAt'>): number => (Date.parse(expiresAt) - Date.now()) / 1_000

/** The metrics of claims by name. */
async function metrics(): Promise<ReadonlyMap<string, number>> {
  const text = await terminal.type('curl http://localhost:3000/metrics')
  const lines = text.matchAll(/^claim_controller_(\w+) (\S+)$/gm)
  return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]))
}

describe.skipIf(!hasTools)('the commands of the seed "claim-controller" (skipped without bash and curl)', () => {
  test('every curl command works with npm start, also on port 3000', { timeout: 300_000 }, async () => {
    await start()
    const first = await terminal.ask<Taken>(claimController.take)
    expect(first).toMatchObject({
      data: { fqdn: `claim-${first.id}.default.svc.cluster.local` },
      preProvisioned: true,
      status: 'ok',
      releaseMethod: 'POST',
      releasePath: `/release/${first.id}`,
    })
    const second = await terminal.ask<Taken>(claimController.takeWithTtl)
    expect(secondsUntil(second)).toBeLessThanOrEqual(301)
    expect(secondsUntil(first)).toBeGreaterThan(400)
    const renewed = await terminal.ask<Taken>(claimController.renew.replace('<claim-id>', first.id))
    // A renewal never shortens.
    expect(renewed).toMatchObject({ id: first.id, expiresAt: first.expiresAt, status: 'ok' })
    const elsewhere = await terminal.ask<Taken>(claimController.take.replace('8080', '3000'))
    expect(elsewhere.id).not.toBe(first.id)
    for (const { id } of [first, second, elsewhere]) {
      const status = `curl -o /dev/null -w '%{http_code}' -X POST http://localhost:8080/release/${id}`
      expect(await terminal.type(status)).toBe('204')
    }
    await warm()
  })

  test('each metric moves in the scenario that the seed gives for it', { timeout: 300_000 }, async () => {
    await start()
    const before = await metrics()
    expect(before.get('claims_preprovisioned_created_total')).toBe(3)
    expect(before.get('active_claims')).toBe(3)
    // A pod and a service each.
    expect(before.get('active_resources')).toBe(6)
    const taken = await terminal.ask<Taken>(claimController.take)
    await warm()
    expect(await metrics()).toEqual(
      new Map([
        ...(await metrics()),
        ['claims_created_total', 1],
        ['claims_reused_preprovisioned_total', 1],
        ['claims_created_ondemand_total', 0],
        ['claims_preprovisioned_created_total', 4],
        ['claims_released_total', 0],
        ['timedout_claims_total', 0],
        ['active_claims', 4],
        ['active_resources', 8],
        ['claim_ready_duration_seconds_count', 1],
        ['claim_idle_duration_seconds_count', 1],
        ['claim_usage_duration_seconds_count', 0],
      ]),
    )
    await terminal.type(`curl -X POST http://localhost:8080/release/${taken.id}`)
    const after = await metrics()
    for (const name of [
      'claims_released_total',
      'claim_usage_duration_seconds_count',
      'claim_lifetime_duration_seconds_count',
      'claim_total_duration_seconds_count',
      'claim_lifetime_expected_ratio_count',
      'claim_usage_expected_ratio_count',
    ])
      expect([name, after.get(name)]).toEqual([name, 1])
    // Released long before its end.
    expect(after.get('claim_lifetime_expected_ratio_sum')).toBeLessThan(0.5)
    expect(after.get('claim_total_duration_seconds_sum')).toBeGreaterThan(590)
  })
})
