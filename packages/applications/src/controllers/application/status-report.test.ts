import type { Action } from '@tenure/runtime'
import { describe, expect, test } from 'vitest'
import type { Application, ApplicationSpec, ApplicationStatus, Phase } from '../../api/index.ts'
import { application, NOW } from '../../testing/objects.ts'
import { planReport } from './status-report.ts'

function statusAt(phase: Phase, reason: string, more: Partial<ApplicationStatus> = {}): ApplicationStatus {
  const status = phase === 'Running' || phase === 'Succeeded' ? 'True' : 'False'
  const condition = { status, reason, message: `It is ${phase}.`, lastTransitionTime: '2026-01-01T00:00:00Z' } as const
  return {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    phase,
    conditions: [{ type: 'Ready', ...condition }],
    ...more,
  }
}

const pending = statusAt('Pending', 'RolloutInProgress')
const running = statusAt('Running', 'ReconciliationSucceeded')
const failed = statusAt('Failed', 'ImagePullBackOff')

/** `status` and the reasons of events, or the delay. */
const brief = (actions: readonly Action<Application>[]): readonly unknown[] =>
  actions.map((action) => {
    if (action.type === 'event') return `${action.eventType} ${action.reason}`
    return action.type === 'requeue' && 'after' in action ? action.after : action.type
  })

const report = (before: ApplicationStatus | undefined, next: ApplicationStatus, now = NOW): readonly unknown[] =>
  brief(planReport(application({}, before, next.observedGeneration), next, now))

/** Events of the first report of a generation. */
const eventsOf = (before: ApplicationStatus | undefined, generation: number, more: Partial<ApplicationSpec> = {}) =>
  planReport(application(more, before, generation), { ...pending, observedGeneration: generation }, NOW)
    .filter((action) => action.type === 'event')
    .map(({ count, message, reason }) => ({ reason, message, ...(count !== undefined && { count }) }))

const changed = (count: number, message: string): readonly object[] => [
  { reason: 'Updated', message: 'The spec was changed.', count },
  { reason: 'Reconciling', message },
]

describe('events of a transition', () => {
  test.each([
    ['the first ready status', undefined, running, ['Normal Reconciled']],
    ['the end of a rollout', pending, running, ['Normal Reconciled']],
    ['an unchanged ready status', running, running, []],
    [
      'a new spec that is ready',
      running,
      { ...running, observedGeneration: 2 },
      ['Normal Updated', 'Normal Reconciling', 'Normal Reconciled'],
    ],
    ['a new spec', running, { ...pending, observedGeneration: 2 }, ['Normal Updated', 'Normal Reconciling']],
    ['a repair without a new spec', running, pending, ['Normal Reconciling']],
    ['the recovery from a failure', failed, pending, ['Normal Reconciling']],
    ['a failure', pending, failed, ['Warning ReconciliationFailed']],
    ['the same failure', failed, failed, []],
    ['another failure', failed, statusAt('Failed', 'CrashLoopBackOff'), ['Warning ReconciliationFailed']],
    ['the start of a run', pending, { ...pending, phase: 'Running' as const }, []],
    ['the end of a run', pending, statusAt('Succeeded', 'ReconciliationSucceeded'), ['Normal Reconciled']],
  ])('%s records each new fact once', (_what, before, next, events) => {
    expect(report(before, next)).toEqual(['status', ...events])
  })

  test('every change of the spec since the last report counts, and the rollout is described', () => {
    const more = { replicas: 5, image: 'nginx:2' }
    expect(eventsOf(running, 6, more)).toEqual(changed(5, 'Rolling out 5 replicas of nginx:2.'))
    // While the first rollout is under way there is no report yet.
    expect(eventsOf(undefined, 6, more)).toEqual(changed(5, 'Rolling out 5 replicas of nginx:2.'))
    expect(eventsOf(undefined, 1)).toEqual([])
    // A restored object begins with generation 1 again.
    const restored = eventsOf({ ...running, observedGeneration: 9 }, 1, { replicas: 1 })
    expect(restored).toEqual(changed(1, expect.stringMatching(/^Rolling out 1 replica of /) as string))
    const autoscaling = { minReplicas: 2, maxReplicas: 8 }
    expect(eventsOf(running, 2, { image: 'a', autoscaling })[1]?.message).toBe('Rolling out 2 to 8 replicas of a.')
    expect(eventsOf(running, 2, { image: 'a', run: 'Once' })[1]?.message).toBe('Starting 3 runs of a.')
  })

  test('a failure event has the reason and the message', () => {
    expect(planReport(application({}, pending), failed, NOW)[1]).toMatchObject({
      message: 'ImagePullBackOff: It is Failed.',
    })
  })
})

const written = (at: string, before: ApplicationStatus) => {
  const subject = application({}, before)
  const managedFields = [{ manager: 'elide-operator', operation: 'Apply', subresource: 'status', time: at }]
  return { ...subject, metadata: { ...subject.metadata, managedFields } }
}

const created = Date.UTC(2026, 0, 1)
const blank = { observedGeneration: -1, phase: 'Pending' } as const

const whileBusy = (next: ApplicationStatus, age: number): readonly unknown[] =>
  brief(planReport(application({}, blank), next, created + age, () => true))

describe('the delay of a status', () => {
  test('the first status waits for the Application to become ready', () => {
    expect(report(undefined, pending, created)).toEqual([5_000])
    expect(report(blank, pending, created + 4_500)).toEqual([500])
    expect(report(blank, pending, created + 5_000)).toEqual(['status'])
    expect(report(blank, running, created)).toEqual(['status', 'Normal Reconciled'])
    expect(report(blank, failed, created)).toEqual(['status', 'Warning ReconciliationFailed'])
  })

  test('a first status without progress waits longer while many are pending', () => {
    const nothing = { ...pending, readyReplicas: 0 }
    expect(whileBusy(nothing, 0)).toEqual([5_000])
    expect(whileBusy(nothing, 298_000)).toEqual([2_000])
    expect(whileBusy(nothing, 300_000)).toEqual(['status'])
    expect(whileBusy({ ...pending, readyReplicas: 1 }, 5_000)).toEqual(['status'])
    expect(whileBusy(statusAt('Pending', 'Unschedulable', { readyReplicas: 0 }), 5_000)).toEqual(['status'])
  })

  test('a status with mere progress waits for the interval', () => {
    const next = { ...pending, readyReplicas: 1 }
    const at = '2026-01-01T00:01:00Z'
    expect(brief(planReport(written(at, pending), next, NOW + 500))).toEqual([4_500])
    expect(brief(planReport(written(at, pending), next, NOW + 5_000))).toEqual(['status'])
    expect(brief(planReport(written(at, pending), pending, NOW))).toEqual(['status'])
    expect(brief(planReport(written(at, pending), running, NOW))).toEqual(['status', 'Normal Reconciled'])
  })

  test('a status does not wait if the clocks disagree', () => {
    expect(report(undefined, pending, created - 60_000)).toEqual(['status'])
  })
})
