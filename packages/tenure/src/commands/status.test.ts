import { refuse } from '@tenure/controlplane/testing'
import { ConnectionError } from '@tenure/kube'
import { Pod } from '@tenure/kube/kinds'
import { displayWidth } from '@tenure/runtime/cli'
import { afterEach, expect, test } from 'vitest'
import { ClusterFixture } from './cluster/cluster.testing.ts'
import { runStatus } from './status/run-status.ts'

const MINUTE = 60_000
let fixture: ClusterFixture

afterEach(() => fixture.stop())

/** One object of each kind, some of them in trouble. */
async function filled(options = {}): Promise<ClusterFixture> {
  fixture = await ClusterFixture.start(options)
  fixture.application('web', { phase: 'Running', readyReplicas: 2 })
  fixture.application('shop', { phase: 'Failed', readyReplicas: 0 })
  fixture.claim('held', 'ready', 5 * MINUTE)
  fixture.claim('idle', 'ready')
  fixture.leasedPod('soon', '90s', 90_000)
  fixture.leasedPod('wrong', '1h30')
  fixture.leaseController('pods', 'Pod', true)
  fixture.database('orders', 1)
  fixture.leader('claim-controller-leader', 'host-1')
  fixture.leader('elide-operator-leader', 'host-2', 10 * MINUTE)
  return fixture
}

test('status counts everything, says why something is in trouble, and what ends next', async () => {
  await filled()
  const { code, output, warnings } = await fixture.run(runStatus)
  expect(code).toBe(0)
  const lines = output.split('\n')
  expect(lines[0]).toMatch(/^Kubernetes v\S+ at https:\/\/cluster.example:6443 +\d\d:\d\d:\d\d UTC$/)
  expect(output).toMatch(/^Applications +2 +1 +1 +host-2 \(gone\) in system$/m)
  expect(output).toMatch(/^Claims +2 +2 +- +host-1 in system$/m)
  expect(output).toMatch(/^Pools +1 +1 +-$/m)
  expect(output).toMatch(/^Leases +2 +1 +1 +- \(no leader Lease\)$/m)
  expect(output).toMatch(/^Databases +1 +1 +- /m)
  expect(lines.slice(lines.indexOf('IN TROUBLE (3)'))).toEqual([
    'IN TROUBLE (3)',
    '✗ Operator system/applications  Its leader host-2 does not renew the Lease elid…',
    '✗ Application default/shop  The application failed.',
    '! Pod default/wrong  Invalid TTL: 30 has no unit; write numbers with units, suc…',
    '',
    'ENDS NEXT (2)',
    'in 1m29s  Pod    default/soon',
    'in 4m59s  Claim  default/held',
  ])
  expect(warnings).toEqual([
    expect.stringMatching(/^Databases are shown as their StatefulSets, .* no PostgreSQL is named/),
  ])
})

test('status fits a terminal of 80 columns and 24 lines with many objects and long names', async () => {
  fixture = await ClusterFixture.start({ terminal: { columns: 80, rows: 24 } })
  const long = 'a-name-that-is-quite-long-for-a-terminal-'.repeat(5).slice(0, 60)
  for (let index = 0; index < 40; index++) {
    fixture.application(`${long}${index}`, { phase: 'Failed', readyReplicas: 0 }, 'team')
    fixture.leasedPod(`${long}${index}`, '2h', index * MINUTE + MINUTE, 'team')
    fixture.claim(`${index}`, 'failed', MINUTE, '容器无法启动 '.repeat(20))
  }
  fixture.leader('elide-operator-leader', long.repeat(3))
  fixture.leader('claim-controller-leader', long.repeat(3))
  const { output, warnings } = await fixture.run(runStatus)
  const lines = output.split('\n')
  // The last line of the terminal is the prompt's.
  expect(lines.length + warnings.length).toBeLessThanOrEqual(23)
  expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([])
  expect(output).toContain('IN TROUBLE (80)')
  expect(output).toContain('ENDS NEXT (80)')
  expect(output.match(/^… and \d+ more: tenure status -o wide$/gm)).toHaveLength(2)
  const wide = await fixture.run(runStatus, [], { output: 'wide' })
  expect(wide.output.split('\n').length).toBeGreaterThan(160)
})

test('status of an empty cluster without definitions reports no error', async () => {
  fixture = await ClusterFixture.start({ crds: 'none' })
  const { code, output, warnings } = await fixture.run(runStatus)
  expect([code, warnings]).toEqual([0, []])
  expect(output).toContain('Nothing is in trouble.\n\nNothing ends.')
})

test('kinds that the user may not list are named in one line, and the rest is shown', async () => {
  await filled()
  fixture.server.intercept(({ plural }) =>
    ['applications', 'secrets'].includes(plural) ? refuse(403, 'Forbidden', 'no') : undefined,
  )
  const { code, output, warnings } = await fixture.run(runStatus)
  expect(code).toBe(0)
  expect(warnings).toContain(
    'Not shown, because you may not list them in all namespaces (name one with -n): applications.cloudnative.elide.dev, secrets.',
  )
  expect(output).toMatch(/^Applications +0 /m)
  expect(output).toMatch(/^Claims +2 /m)
})

test('status is JSON and YAML for programs, and names what is in trouble', async () => {
  await filled()
  const json = await fixture.run(runStatus, [], { output: 'json' })
  expect(JSON.parse(json.output)).toMatchObject({
    server: 'https://cluster.example:6443',
    kinds: expect.arrayContaining([
      expect.objectContaining({ name: 'applications', total: 2, ready: 1, inTrouble: 1 }),
    ]),
    leaders: expect.arrayContaining([
      expect.objectContaining({ operator: 'claims', holder: 'host-1', isStale: false }),
    ]),
    endsNext: [
      { kind: 'Pod', namespace: 'default', name: 'soon' },
      { kind: 'Claim', namespace: 'default', name: 'held' },
    ],
  })
  expect((await fixture.run(runStatus, [], { output: 'yaml' })).output).toContain(
    '\nserver: https://cluster.example:6443',
  )
  expect((await fixture.run(runStatus, [], { output: 'name' })).output).toBe(
    'operator/applications\napplication/shop\npod/wrong',
  )
  expect(await fixture.run(runStatus, [], { output: 'xml' })).toEqual({
    code: 2,
    output: '',
    warnings: ['"xml" is not an output format: use table, wide, json, yaml or name.'],
  })
})

test('an API server that does not answer is one line and exit code 1', async () => {
  fixture = await ClusterFixture.start()
  fixture.server.intercept(() => {
    throw new ConnectionError('TENURE_CONNECTION_TIMEOUT', 'No response in time.')
  })
  expect(await fixture.run(runStatus)).toEqual({
    code: 1,
    output: '',
    warnings: [
      'The API server https://cluster.example:6443 (the test) cannot be used: No response in time. Run tenure doctor.',
    ],
  })
})

test('status -w shows a lease that is added, by watches', async () => {
  await filled()
  const end = new AbortController()
  const shown: string[] = []
  const context = fixture.context((text) => void shown.push(text), end.signal)
  const running = runStatus(context, { watch: true })
  await fixture.clock.advance(3_000)
  expect(shown.at(-1)).toContain('ENDS NEXT (2)')
  fixture.server.clearRequests()
  fixture.leasedPod('late', '1h', 60 * MINUTE)
  await fixture.clock.advance(3_000)
  expect(shown.at(-1)).toMatch(/^ENDS NEXT \(3\)$/m)
  fixture.server.unseed(Pod, { name: 'soon', namespace: 'default' })
  await fixture.clock.advance(3_000)
  expect(shown.at(-1)).not.toContain('default/soon')
  expect(fixture.server.requests.filter(({ verb }) => verb === 'list')).toEqual([])
  end.abort()
  await fixture.clock.advance(1_000)
  expect(await running).toBe(0)
})
