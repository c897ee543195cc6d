import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { controller, createMetrics, event, requeueAfter } from '@tenure/runtime'
import { TestControlPlane } from '@tenure/controlplane/testing'
import { TenureError } from '@tenure/kube'
import { expect, test } from 'vitest'
import { Application, CONTROLLER_NAME, REASONS, type Phase } from './api/index.ts'
import { applicationDefinition } from './api/crd.ts'
import { EventHistory } from './events/history.ts'
import { ApplicationMetrics } from './metrics.ts'
import { runSetup } from './testing/run-setup.ts'

test("the metrics have the seeds' names and real values, next to the runtime's", async () => {
  const clock = new VirtualClock()
  const server = await TestControlPlane.start({ clock, crds: [applicationDefinition] })
  const seed = (namespace: string, name: string, phase?: Phase): void => {
    server.seed(Application, {
      apiVersion: 'cloudnative.elide.dev/v1',
      kind: 'Application',
      metadata: { name, namespace },
      spec: { replicas: 1, image: 'nginx' },
      ...(phase && { status: { phase } }),
    })
  }
  seed('one', 'runs', 'Running')
  seed('one', 'new')
  seed('two', 'fails', 'Failed')
  seed('two', 'later', 'Running')

  const metrics = await createMetrics()
  const running = await runSetup(
    { server, random: seededRandom(3), metrics, settings: { podName: 'me' }, leaderElection: {} },
    (context) => {
      const measured = new ApplicationMetrics(context)
      const history = new EventHistory(context, { metrics: measured })
      const subject = controller(Application, {
        name: CONTROLLER_NAME,
        recorder: history.recorder,
        onReconciled: measured.reconciled,
        plan: ({ object }) => {
          if (object.metadata.name === 'fails') throw new TenureError('TENURE_TEST_WRONG', 'Wrong.')
          if (object.metadata.name === 'later') return [requeueAfter(3_600_000)]
          return [event({ type: 'Normal', reason: REASONS.reconciled, message: 'Well.' })]
        },
      })
      return { controllers: [subject], components: [...measured.components, history.component], result: undefined }
    },
  )
  const series = async (): Promise<ReadonlyMap<string, string>> => {
    const { text } = await metrics.expose()
    const pairs = text.split('\n').map((line): [string, string] => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), line.slice(space + 1)]
    })
    return new Map(pairs)
  }
  await clock.advance(5_000)
  const before = await series()
  const of = CONTROLLER_NAME
  expect({
    success: before.get(`controller_reconcile_total{controller="${of}",result="success"}`),
    requeue: before.get(`controller_reconcile_total{controller="${of}",result="requeue"}`),
    error: before.get(`controller_reconcile_total{controller="${of}",result="error"}`),
    errors: before.get(`controller_reconcile_errors_total{controller="${of}"}`),
    timed: before.get(`controller_reconcile_duration_seconds_count{controller="${of}"}`),
    quick: before.get(`controller_reconcile_duration_seconds_bucket{controller="${of}",le="0.005"}`),
    slow: before.get(`controller_reconcile_duration_seconds_bucket{controller="${of}",le="10"}`),
    runtime: before.get(`controller_runtime_reconcile_total{controller="${of}",result="success"}`),
    one: before.get('resource_count{kind="Application",namespace="one"}'),
    two: before.get('resource_count{kind="Application",namespace="two"}'),
    pending: before.get('resource_phase_count{kind="Application",phase="Pending"}'),
    running: before.get('resource_phase_count{kind="Application",phase="Running"}'),
    failed: before.get('resource_phase_count{kind="Application",phase="Failed"}'),
    succeeded: before.get('resource_phase_count{kind="Application",phase="Succeeded"}'),
    events: before.get('event_total{type="Normal",severity="Info"}'),
    leads: before.get('leader_election_status'),
    transitions: before.get('leader_transitions_total'),
    depth: before.get(`workqueue_depth{name="${of}",controller="${of}"}`),
    retries: before.get(`workqueue_retries_total{name="${of}",controller="${of}"}`),
  }).toEqual({
    success: '2',
    requeue: '1',
    error: '1',
    errors: '1',
    timed: '4',
    quick: '4',
    slow: '4',
    runtime: '2',
    one: '2',
    two: '2',
    pending: '1',
    running: '2',
    failed: '1',
    succeeded: '0',
    events: '2',
    leads: '1',
    transitions: '1',
    depth: '0',
    retries: '0',
  })
  expect(Number(before.get(`workqueue_adds_total{name="${of}",controller="${of}"}`))).toBeGreaterThanOrEqual(4)
  expect(Number(before.get('process_start_time_seconds'))).toBeGreaterThan(0)

  server.unseed(Application, { namespace: 'two', name: 'fails' })
  server.unseed(Application, { namespace: 'two', name: 'later' })
  await clock.advance(1_000)
  const after = await series()
  expect(after.has('resource_count{kind="Application",namespace="two"}')).toBe(false)
  expect(after.get('resource_count{kind="Application",namespace="one"}')).toBe('2')

  await running.stop()
  await server.stop()
  expect((await series()).get('leader_transitions_total')).toBe('2')
})
