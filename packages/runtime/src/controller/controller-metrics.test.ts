import { defineKind, TenureError } from '@tenure/kube'
import { expect, test } from 'vitest'
import { call, event, type EventContent, requeueAfter } from '../actions/index.ts'
import { createMetrics } from '../metrics/prometheus.ts'
import { controller } from './index.ts'
import { ControllerFixture } from './fixture.testing.ts'

const Probe = defineKind({ apiVersion: 'example.dev/v1', kind: 'Probe' })

test('reconciles are counted under the names of controller-runtime', async () => {
  const fixture = new ControllerFixture()
  for (const name of ['well', 'later', 'wrong', 'busy']) {
    fixture.server.seed(Probe, { metadata: { name, namespace: 'default' } })
  }
  const metrics = await createMetrics()
  let busy = 2
  const hanging = Promise.withResolvers<void>()
  const { stop } = await fixture.start(
    controller(Probe, {
      concurrency: 2,
      plan: ({ object }) => {
        const { name } = object.metadata
        if (name === 'later') return [requeueAfter(3_600_000)]
        if (name === 'wrong') throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
        if (name === 'busy' && busy-- > 0) throw new TenureError('TENURE_TEST_BUSY', 'Busy.', { fate: 'retry' })
        return [name === 'hangs' && call('hang', () => hanging.promise)]
      },
    }),
    { metrics },
  )
  await fixture.until(() => busy < 0)
  fixture.server.seed(Probe, { metadata: { name: 'hangs', namespace: 'default' } })
  await fixture.clock.advance(2000)
  const { text } = await metrics.expose()
  const value = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  const of = (name: string, labels = ''): number => value(`${name}{controller="probe"${labels}}`)
  expect({
    success: of('controller_runtime_reconcile_total', ',result="success"'),
    later: of('controller_runtime_reconcile_total', ',result="requeue_after"'),
    error: of('controller_runtime_reconcile_total', ',result="error"'),
    errors: of('controller_runtime_reconcile_errors_total'),
    terminal: of('controller_runtime_terminal_reconcile_errors_total'),
    timed: of('controller_runtime_reconcile_time_seconds_count'),
    most: of('controller_runtime_max_concurrent_reconciles'),
    active: of('controller_runtime_active_workers'),
    retries: value('workqueue_retries_total{name="probe",controller="probe"}'),
  }).toEqual({ success: 2, later: 1, error: 3, errors: 3, terminal: 1, timed: 6, most: 2, active: 1, retries: 2 })
  expect(value('workqueue_unfinished_work_seconds{name="probe",controller="probe"}')).toBeGreaterThan(1)
  hanging.resolve()
  await stop()
  expect((await metrics.expose()).text).toContain('controller_runtime_active_workers{controller="probe"} 0')
})

test('onReconciled gets each outcome, and Events go to the given recorder', async () => {
  const fixture = new ControllerFixture()
  for (const name of ['later', 'well', 'wrong'])
    fixture.server.seed(Probe, { metadata: { name, namespace: 'default' } })
  const outcomes: string[] = []
  const recorded: EventContent[] = []
  const { stop } = await fixture.start(
    controller(Probe, {
      concurrency: 1,
      plan: ({ object }) => {
        const { name } = object.metadata
        if (name === 'wrong') throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
        return name === 'later'
          ? [requeueAfter(3_600_000)]
          : [event({ type: 'Normal', reason: 'Seen', message: 'Well.' })]
      },
      recorder: { record: (_object, content) => void recorded.push(content) },
      onReconciled: ({ result, seconds }) => void outcomes.push(`${result} ${seconds >= 0}`),
    }),
  )
  await fixture.until(() => outcomes.length === 3)
  expect(outcomes.toSorted()).toEqual(['error true', 'requeue_after true', 'success true'])
  expect(recorded.map(({ reason }) => reason)).toEqual(['Seen'])
  expect(fixture.events).toEqual([])
  await stop()
})
