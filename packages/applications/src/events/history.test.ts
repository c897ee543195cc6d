import { Client } from '@tenure/kube'
import { Event } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { createMetrics } from '@tenure/runtime'
import { TestControlPlane } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { applicationDefinition } from '../api/crd.ts'
import { Application, GROUP, REASONS } from '../api/index.ts'
import { EventHistory, type EventHistoryOptions } from './history.ts'
import { ApplicationMetrics } from '../metrics.ts'
import { runSetup } from '../testing/run-setup.ts'

const involvedObject = { apiVersion: `${GROUP}/v1`, kind: 'Application', namespace: 'default', name: 'shop' }
const failed = { type: 'Error', reason: REASONS.reconciliationFailed, message: 'No.', involvedObject } as const

const shown = (history: EventHistory): unknown => history.list().map(({ reason, type, count }) => [reason, type, count])

let clock: VirtualClock
let server: TestControlPlane
let processes: { stop(): Promise<void> }[]
let seed = 1

beforeEach(async () => {
  clock = new VirtualClock()
  server = await TestControlPlane.start({ clock, crds: [applicationDefinition] })
  processes = []
})

afterEach(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  await server.stop()
})

/** A process of the operator with an event history only. */
async function start(options: EventHistoryOptions = {}) {
  const random = seededRandom(seed++)
  const metrics = await createMetrics({ processMetrics: false })
  const { result, stop } = await runSetup({ server, random, metrics }, (context) => {
    const measured = new ApplicationMetrics(context)
    const history = new EventHistory(context, { metrics: measured, ...options })
    return { components: [...measured.components, history.component], result: { history, context } }
  })
  await clock.advance(1_000)
  processes.push({ stop })
  return { ...result, metrics, stop }
}

test('a recorded event is shown at once, aggregated and written to Kubernetes', async () => {
  const { history, metrics } = await start({ identity: 'pod-1' })
  history.record(failed)
  history.record({ ...failed, message: 'Again no.', metadata: { attempt: 2 } })
  expect(history.list()).toMatchObject([
    {
      type: 'Error',
      severity: 'Error',
      reason: 'ReconciliationFailed',
      message: 'Again no.',
      count: 2,
      source: { component: 'elide-operator', host: 'pod-1' },
      involvedObject,
      metadata: { attempt: 2 },
    },
  ])
  await clock.advance(1_000)
  const written = { type: 'Warning', reason: 'ReconciliationFailed', regarding: involvedObject }
  expect(server.objects(Event)).toMatchObject([written, written])
  expect(server.objects(Event).map(({ note }) => note)).toEqual(expect.arrayContaining(['No.', 'Again no.']))
  expect(history.list()).toHaveLength(1)
  expect((await metrics.expose()).text).toContain('event_total{type="Error",severity="Error"} 2')
})

test('an event of a controller is typed by its reason and names its object', async () => {
  const { history } = await start()
  const stored = server.seed(Application, {
    apiVersion: `${GROUP}/v1`,
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'default' },
    spec: { replicas: 1, image: 'nginx' },
  })
  history.recorder.record(stored, { type: 'Normal', reason: REASONS.created, message: 'Made.' })
  history.recorder.record(stored, { type: 'Warning', reason: REASONS.reconciliationFailed, message: 'No.' })
  history.recorder.record(stored, { type: 'Warning', reason: 'Slow', message: 'Slow.' })
  expect(history.list().map(({ type, severity, reason }) => [type, severity, reason])).toEqual([
    ['Warning', 'Warning', 'Slow'],
    ['Error', 'Error', 'ReconciliationFailed'],
    ['Normal', 'Info', 'Created'],
  ])
  expect(history.list({ name: 'shop' })[0]?.involvedObject).toEqual({ ...involvedObject, uid: stored.metadata.uid })
  await clock.advance(1_000)
  expect(server.objects(Event).map(({ regarding }) => regarding?.uid)).toEqual(Array(3).fill(stored.metadata.uid))
})

test('each replica shows the events of the others once, even after a restart', async () => {
  const one = await start({ identity: 'same-host' })
  const two = await start({ identity: 'same-host' })
  one.history.record({ ...failed, type: 'Normal', reason: REASONS.created })
  await clock.advance(2_000)
  two.history.record(failed)
  two.history.record(failed)
  await clock.advance(2_000)
  const both = [
    ['ReconciliationFailed', 'Error', 2],
    ['Created', 'Normal', 1],
  ]
  expect(shown(one.history)).toEqual(both)
  expect(shown(two.history)).toEqual(both)

  await two.stop()
  const again = await start({ identity: 'same-host' })
  expect(shown(again.history)).toEqual(both)
  const alone = await start({ identity: 'same-host', watchRemote: false })
  expect(shown(alone.history)).toEqual([])
})

test('a history of one namespace watches that namespace only', async () => {
  await start({ namespace: 'default' })
  const asked = server.requests.filter(({ plural }) => plural === 'events').map(({ namespace }) => namespace)
  expect(asked.length).toBeGreaterThan(0)
  expect(new Set(asked)).toEqual(new Set(['default']))
})

test('deleted events and events of other controllers do not change the history', async () => {
  const one = await start()
  const { history } = await start()
  one.history.record(failed)
  await clock.advance(1_000)
  const [event] = server.objects(Event)
  server.unseed(Event, { namespace: 'default', name: event?.metadata.name ?? '' })
  server.seed(Event, {
    metadata: { name: 'other', namespace: 'default' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'other-controller',
    reason: 'Foreign',
    regarding: involvedObject,
  })
  await clock.advance(1_000)
  expect(history.list().map(({ reason }) => reason)).toEqual(['ReconciliationFailed'])
})

test('only events about Applications are shown', async () => {
  const { history } = await start()
  const about = { eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'elide-operator', reason: 'Foreign' }
  for (const [name, regarding] of Object.entries({
    lease: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'default', name: 'elide-operator-leader' },
    other: { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', namespace: 'default', name: 'shop' },
    bare: { kind: 'Application', namespace: 'default', name: 'shop' },
    mine: { ...involvedObject, apiVersion: `${GROUP}/v1` },
  })) {
    server.seed(Event, { ...about, metadata: { name, namespace: 'default' }, regarding })
  }
  await clock.advance(1_000)
  expect(history.list().map(({ involvedObject: { apiVersion } }) => apiVersion)).toEqual([`${GROUP}/v1`])
})

test('an event without an object name is not written to Kubernetes, and recording works before the start', async () => {
  const { history, context } = await start()
  const idle = new EventHistory(context, { watchRemote: false })
  idle.record({ ...failed, involvedObject: { kind: 'Application', name: '' } })
  expect(idle.list()).toHaveLength(1)
  history.record({ ...failed, reason: REASONS.validationFailed, involvedObject: { kind: 'Application', name: '' } })
  await clock.advance(1_000)
  expect(history.list()).toHaveLength(1)
  expect(server.objects(Event)).toEqual([])
  expect(context.api).toBeInstanceOf(Client)
})
