import { refuse } from '@tenure/controlplane/testing'
import { Event, Pod } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ClusterFixture } from './cluster/cluster.testing.ts'
import { runEvents } from './events/run-events.ts'

const MINUTE = 60_000
let fixture: ClusterFixture

beforeEach(async () => {
  fixture = await ClusterFixture.start()
  fixture.application('web', { phase: 'Running', readyReplicas: 2 })
  fixture.leasedPod('soon', '90s', 90_000)
  fixture.server.seed(Pod, {
    metadata: { name: 'child', namespace: 'default', labels: { 'app.kubernetes.io/managed-by': 'elide-operator' } },
    spec: { containers: [] },
  })
  event('a', { kind: 'Application', name: 'web' }, 30 * MINUTE, { reason: 'Created', note: 'Deployment created' })
  event('b', { kind: 'Pod', name: 'soon' }, 20 * MINUTE, { type: 'Warning', reason: 'BackOff', note: 'no image' })
  event('c', { kind: 'Pod', name: 'other' }, 10 * MINUTE, { reason: 'Foreign' })
  event('d', { kind: 'ConfigMap', name: 'gone' }, 5 * MINUTE, {
    reason: 'Expired',
    reportingController: 'object-lease-controller',
  })
  event('e', { kind: 'Pod', name: 'child' }, 25 * MINUTE, { reason: 'Pulled' })
})

afterEach(() => fixture.stop())

/** An event of the kubelet, `ago` milliseconds old. */
function event(
  id: string,
  regarding: { readonly kind: string; readonly name: string },
  ago: number,
  more: Partial<Event>,
): void {
  fixture.server.seed(Event, {
    metadata: { name: `event-${id}`, namespace: 'default' },
    eventTime: new Date(fixture.clock.now() - ago).toISOString().replace('Z', '000Z'),
    reportingController: 'kubelet',
    reportingInstance: 'node',
    action: 'Test',
    type: 'Normal',
    regarding: { ...regarding, namespace: 'default' },
    ...more,
  })
}

const reasons = async (options: Parameters<typeof fixture.run>[2]): Promise<readonly unknown[]> => {
  const { output } = await fixture.run(runEvents, [], { output: 'json', ...options })
  return (JSON.parse(output) as { items: readonly { reason: string }[] }).items.map(({ reason }) => reason)
}

test('events are about managed objects and their children, or come from an operator, newest last', async () => {
  const { code, output, warnings } = await fixture.run(runEvents)
  expect([code, warnings]).toEqual([0, []])
  expect(output.split('\n')).toEqual([
    expect.stringMatching(/^LAST SEEN +NAMESPACE +TYPE +REASON +OBJECT +MESSAGE$/),
    expect.stringMatching(/^30m\S* ago +default +Normal +Created +Application\/web +Deployment created$/),
    expect.stringMatching(/^25m\S* ago +default +Normal +Pulled +Pod\/child$/),
    expect.stringMatching(/^20m\S* ago +default +Warning +BackOff +Pod\/soon +no image$/),
    expect.stringMatching(/^5m\S* ago +default +Normal +Expired +ConfigMap\/gone$/),
  ])
})

test('events are filtered by kind, name, type and age', async () => {
  expect(await reasons({ kind: 'pods' })).toEqual(['Pulled', 'BackOff'])
  expect(await reasons({ name: 'web' })).toEqual(['Created'])
  expect(await reasons({ type: 'warning' })).toEqual(['BackOff'])
  expect(await reasons({ since: '22m' })).toEqual(['BackOff', 'Expired'])
  expect((await fixture.run(runEvents, [], { output: 'name', kind: 'Application' })).output).toBe(
    'event.events.k8s.io/event-a',
  )
  expect((await fixture.run(runEvents, [], { namespace: 'team' })).warnings).toEqual([
    'No events found in the namespace team; -A shows all.',
  ])
})

test('an invalid filter is one line and exit code 2', async () => {
  for (const options of [{ type: 'Error' }, { since: 'yesterday' }, { output: 'csv' }]) {
    const { code, output, warnings } = await fixture.run(runEvents, [], options)
    expect([code, output, warnings.length]).toEqual([2, '', 1])
  }
})

test('events that the user may not list fail', async () => {
  fixture.server.intercept(({ group }) => (group === 'events.k8s.io' ? refuse(403, 'Forbidden', 'no') : undefined))
  expect(await fixture.run(runEvents)).toMatchObject({
    code: 1,
    output: '',
    warnings: ['Not shown, because you may not list them in the namespace default: events.events.k8s.io.'],
  })
})

test('events -w prints each event once, as it comes', async () => {
  const end = new AbortController()
  const lines: string[] = []
  const context = fixture.context((text) => void lines.push(...text.split('\n')), end.signal)
  const running = runEvents(context, { watch: true })
  await fixture.clock.advance(3_000)
  expect(lines).toHaveLength(5)
  event('f', { kind: 'Application', name: 'web' }, 0, { reason: 'Scaled', note: 'to 3' })
  await fixture.clock.advance(3_000)
  event('g', { kind: 'Pod', name: 'other' }, 0, { reason: 'Foreign' })
  await fixture.clock.advance(3_000)
  expect(lines.slice(5)).toEqual([expect.stringMatching(/ default +Normal +Scaled +Application\/web +to 3$/)])
  end.abort()
  await fixture.clock.advance(1_000)
  expect(await running).toBe(0)
})
