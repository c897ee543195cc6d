import { refuse } from '@tenure/controlplane/testing'
import { Pod } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ClusterFixture } from './cluster/cluster.testing.ts'
import { runGet } from './get/run-get.ts'

const MINUTE = 60_000
let fixture: ClusterFixture

beforeEach(async () => {
  fixture = await ClusterFixture.start()
  fixture.application('web', { phase: 'Running', readyReplicas: 2 }, 'default', { labels: { tier: 'front' } })
  fixture.application('shop', { phase: 'Pending', readyReplicas: 0 }, 'team')
  fixture.claim('held', 'ready', 5 * MINUTE)
  fixture.claim('idle', 'failed', undefined, 'image not found')
  fixture.leasedPod('soon', '90s', 90_000)
  fixture.leaseController('pods', 'Pod', false, 'No kind Pod')
  fixture.database('orders', 1)
})

afterEach(() => fixture.stop())

test('get lists the rows of the namespace, or of all', async () => {
  const own = await fixture.run(runGet, ['applications'])
  expect(own).toMatchObject({ code: 0, warnings: [] })
  expect(own.output.split('\n')).toEqual([
    expect.stringMatching(/^NAMESPACE +NAME +PHASE +READY +IMAGE +AGE +MESSAGE$/),
    expect.stringMatching(/^default +web +Running +2\/2 +nginx +\d+s$/),
  ])
  const all = await fixture.run(runGet, ['app'], { allNamespaces: true, output: 'name' })
  expect(all.output).toBe('application.cloudnative.elide.dev/web\napplication.cloudnative.elide.dev/shop')
  expect((await fixture.run(runGet, ['apps'], { selector: 'tier=front', allNamespaces: true })).output).not.toContain(
    'shop',
  )
  expect((await fixture.run(runGet, ['apps'], { namespace: 'system' })).warnings).toEqual([
    'No applications found in the namespace system; -A shows all.',
  ])
})

test('get shows claims, pools, leases, LeaseControllers and databases', async () => {
  const claims = await fixture.run(runGet, ['claims'], { output: 'wide' })
  expect(claims.output).toMatch(/^default +held +chrome +ready +0\/0 +in 4m59s +\S+ +claim-held +yes/m)
  expect(claims.output).toMatch(/^default +idle +chrome +failed in its pool .*image not found$/m)
  expect((await fixture.run(runGet, ['pools'])).output).toMatch(/^default +chrome +0 +0 +1 +1 +image not found$/m)
  expect((await fixture.run(runGet, ['leases'])).output).toMatch(/^in 1m29s +\S+ +Pod +default +soon +90s +Active\.$/m)
  expect((await fixture.run(runGet, ['leasecontrollers'])).output).toMatch(
    /^pods +Pod +- +False +1 +\S+ +No kind Pod$/m,
  )
  const databases = await fixture.run(runGet, ['databases'], { namespace: 'team' })
  expect(databases.output).toMatch(/^team +orders +- +postgres +active +1\/1$/m)
  expect(databases.warnings).toEqual([expect.stringContaining('no PostgreSQL is named')])
})

test('get all shows every kind that has rows, as one document for programs', async () => {
  const { output } = await fixture.run(runGet, ['all'], { allNamespaces: true })
  expect(output.match(/^[A-Z]+$/gm)).toEqual([
    'APPLICATIONS',
    'CLAIMS',
    'POOLS',
    'LEASES',
    'LEASECONTROLLERS',
    'DATABASES',
  ])
  const json = await fixture.run(runGet, ['all'], { output: 'json', allNamespaces: true })
  expect(JSON.parse(json.output)).toMatchObject({
    applications: [{ name: 'web' }, { name: 'shop' }],
    claims: [{ id: 'held' }, { id: 'idle' }],
    databases: [{ name: 'orders' }],
  })
})

test('get of one name shows it, or fails', async () => {
  const one = await fixture.run(runGet, ['claim', 'held'], { output: 'json' })
  expect(JSON.parse(one.output)).toMatchObject({ id: 'held', status: 'ready' })
  expect((await fixture.run(runGet, ['lease', 'pod/soon'], { output: 'name' })).output).toBe('pod/soon')
  expect(await fixture.run(runGet, ['claim', 'none'])).toEqual({
    code: 1,
    output: '',
    warnings: ['There is no claim none here. See tenure get claims -A.'],
  })
})

test('bad input is one line and exit code 2', async () => {
  const { run } = fixture
  const cases = [
    run.call(fixture, runGet, ['claimz']),
    run.call(fixture, runGet, ['all', 'web']),
    run.call(fixture, runGet, ['all'], { watch: true }),
    run.call(fixture, runGet, ['pools'], { selector: 'a=b' }),
    run.call(fixture, runGet, ['apps'], { selector: 'a in' }),
    run.call(fixture, runGet, ['apps'], { namespace: 'a', allNamespaces: true }),
    run.call(fixture, runGet, ['apps'], { output: 'xml' }),
  ]
  for (const { code, output, warnings } of await Promise.all(cases)) {
    expect([code, output, warnings.length]).toEqual([2, '', 1])
    expect(warnings[0]).not.toContain('\n')
  }
})

test('a kind that the user may not list fails, and all others are shown', async () => {
  fixture.server.intercept(({ plural }) => (plural === 'applications' ? refuse(403, 'Forbidden', 'no') : undefined))
  const refused =
    'Not shown, because you may not list them in the namespace default: applications.cloudnative.elide.dev.'
  expect(await fixture.run(runGet, ['applications'])).toEqual({ code: 1, output: '', warnings: [refused] })
  const all = await fixture.run(runGet, ['all'])
  expect(all).toMatchObject({ code: 0, warnings: [refused] })
  expect(all.output).toContain('CLAIMS')
})

test('get -w prints a line for each change', async () => {
  const end = new AbortController()
  const lines: string[] = []
  const context = fixture.context((text) => void lines.push(...text.split('\n')), end.signal)
  const running = runGet(context, { watch: true }, ['leases'])
  await fixture.clock.advance(3_000)
  expect(lines).toEqual([
    expect.stringMatching(/^EVENT +EXPIRES /),
    expect.stringMatching(/^ADDED +in 1m\d+s .*default +soon /),
  ])
  fixture.leasedPod('soon', '2h', 120 * MINUTE)
  await fixture.clock.advance(3_000)
  expect(lines.at(-1)).toMatch(/^MODIFIED +in 1h59m .*default +soon /)
  fixture.server.unseed(Pod, { name: 'soon', namespace: 'default' })
  await fixture.clock.advance(3_000)
  expect(lines.at(-1)).toMatch(/^DELETED .*default +soon /)
  expect(lines).toHaveLength(4)
  end.abort()
  await fixture.clock.advance(1_000)
  expect(await running).toBe(0)
})
