import type { Stored } from '@tenure/kube'
import type { DeploymentStatus, Job, JobStatus } from '@tenure/kube/kinds'
import { describe, expect, test } from 'vitest'
import type { Application, ApplicationSpec, ApplicationStatus } from '../../api/index.ts'
import { podRevision } from './children/index.ts'
import { jobFor } from './children/job.ts'
import { all, application, deployment, NOW, observed, plainSpec, pod, stored, waiting } from '../../testing/objects.ts'
import type { Observed } from './observed.ts'
import { rolloutOf } from './rollout.ts'
import { failedStatus, statusOf } from './status.ts'

const statusFor = (subject: Stored<Application>, seen: Observed, now = NOW): ApplicationStatus =>
  statusOf(subject, rolloutOf(subject, seen), now)

const of = (status: DeploymentStatus, more: Partial<Observed> = {}): ApplicationStatus =>
  statusFor(application(), observed({ deployment: deployment({}, status), ...more }))

const summary = ({ conditions = [], phase }: ApplicationStatus): string =>
  [phase, ...conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`)].join(' ')

const PENDING = 'Pending Ready=False/RolloutInProgress Progressing=True/ReplicaSetUpdated'
const RUNNING = 'Running Ready=True/ReconciliationSucceeded Progressing=True/NewReplicaSetAvailable'

describe('the phase', () => {
  test('the phase is Pending until all pods are updated and ready, then Running', () => {
    expect(summary(statusFor(application(), observed()))).toBe(PENDING)
    expect(summary(of({}))).toBe(PENDING)
    expect(summary(of({ ...all(3), readyReplicas: 2 }))).toBe(PENDING)
    expect(summary(of({ ...all(3), updatedReplicas: 2 }))).toBe(PENDING)
    expect(summary(of({ ...all(3), replicas: 4 }))).toBe(PENDING)
    expect(summary(of(all(3)))).toBe(RUNNING)
  })

  test("the phase is Pending while the Deployment's status is of an earlier generation", () => {
    expect(summary(of({ ...all(3), observedGeneration: 0 }))).toBe(PENDING)
  })

  test('the phase is Pending while the Deployment is being deleted', () => {
    const live = deployment({}, all(3))
    const going = { ...live, metadata: { ...live.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect(summary(statusFor(application(), observed({ deployment: going })))).toBe(PENDING)
  })

  test('the phase is Running with zero replicas, if zero are desired', () => {
    const none = { replicas: 0 }
    expect(summary(statusFor(application(none), observed({ deployment: deployment(none) })))).toBe(RUNNING)
  })

  test('the phase follows the replicas of the autoscaler', () => {
    const subject = application({ autoscaling: { maxReplicas: 9 } })
    const seen = observed({ deployment: deployment({ replicas: 7 }, all(7)) })
    expect(summary(statusFor(subject, seen))).toBe(RUNNING)
  })
})

test('the status has every field of the contract', () => {
  expect(of(all(3))).toEqual({
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    labelSelector:
      'app.kubernetes.io/instance=shop,app.kubernetes.io/managed-by=elide-operator,app.kubernetes.io/name=shop',
    phase: 'Running',
    conditions: ['Ready', 'Progressing'].map((type) => ({
      type,
      status: 'True',
      reason: type === 'Ready' ? 'ReconciliationSucceeded' : 'NewReplicaSetAvailable',
      message: '3 of 3 replicas are ready.',
      lastTransitionTime: '2026-01-01T00:01:00Z',
      observedGeneration: 1,
    })),
  })
})

const condition = (type: string, status: string, reason: string) => ({ type, status, reason, message: 'so it is' })

describe('a failing rollout', () => {
  test.each([
    [
      'ImagePullBackOff',
      waiting('ImagePullBackOff', 'Back-off pulling image "x"'),
      'Pod a: Back-off pulling image "x"',
    ],
    ['ErrImagePull', waiting('ErrImagePull', 'no such host'), 'Pod a: no such host'],
    ['InvalidImageName', waiting('InvalidImageName'), 'Pod a: container app does not start'],
    [
      'CreateContainerConfigError',
      waiting('CreateContainerConfigError', 'secret "s" not found'),
      'Pod a: secret "s" not found',
    ],
    [
      'CrashLoopBackOff',
      { ...waiting('CrashLoopBackOff', 'back-off 40s restarting'), lastState: { terminated: { exitCode: 3 } } },
      'Pod a: container app keeps crashing, with exit code 3',
    ],
    [
      'CrashLoopBackOff',
      { state: { running: {} }, restartCount: 2, lastState: { terminated: { exitCode: 1 } } },
      'Pod a: container app keeps crashing, with exit code 1',
    ],
  ])('a pod fails the rollout with reason %s', (reason, container, message) => {
    const status = of({ replicas: 1 }, { failingPods: [pod('b', waiting(reason)), pod('a', container)] })
    expect(summary(status)).toBe(`Failed Ready=False/${reason} Progressing=False/${reason}`)
    expect(status.conditions?.[0]?.message).toBe(message)
  })

  test("the Deployment's conditions fail the rollout", () => {
    expect(summary(of({ conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] }))).toBe(
      'Failed Ready=False/ProgressDeadlineExceeded Progressing=False/ProgressDeadlineExceeded',
    )
    expect(summary(of({ conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')] }))).toBe(
      'Failed Ready=False/FailedCreate Progressing=False/FailedCreate',
    )
    expect(summary(of({ conditions: [condition('Progressing', 'True', 'ReplicaSetUpdated')] }))).toBe(PENDING)
  })

  test('pods of an earlier revision, deleted pods and starting pods do not fail the rollout', () => {
    const earlier = pod('a', waiting('ImagePullBackOff'), podRevision('shop', { ...plainSpec, image: 'other' }))
    const here = pod('b', waiting('ImagePullBackOff'))
    const going = { ...here, metadata: { ...here.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const starting = pod('c', waiting('ContainerCreating'))
    const once = pod('d', { restartCount: 1, lastState: { terminated: { exitCode: 1 } } })
    expect(summary(of({ replicas: 1 }, { failingPods: [earlier, going, starting, once] }))).toBe(PENDING)
  })

  test('an unschedulable pod does not fail the rollout', () => {
    const status = {
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }],
    }
    const seen = of({ replicas: 1 }, { failingPods: [{ ...pod('a', {}), status }] })
    expect(summary(seen)).toBe('Pending Ready=False/Unschedulable Progressing=True/ReplicaSetUpdated')
    expect(seen.conditions?.[0]?.message).toBe('Pod a: 0/1 nodes')
  })

  test('an init container fails the rollout', () => {
    const trouble = pod('a', {})
    const { containerStatuses: initContainerStatuses } = pod('a', waiting('ErrImagePull', 'no')).status ?? {}
    const status = { ...trouble.status, ...(initContainerStatuses && { initContainerStatuses }) }
    expect(of({ replicas: 1 }, { failingPods: [{ ...trouble, status }] }).phase).toBe('Failed')
  })

  test('the first reason is kept while the failure lasts', () => {
    const first = of({ replicas: 1 }, { failingPods: [pod('a', waiting('ErrImagePull', 'no such host'))] })
    const later = observed({
      deployment: deployment({}, { replicas: 1 }),
      failingPods: [pod('b', waiting('ImagePullBackOff', 'Back-off'))],
    })
    expect(statusFor(application({}, first), later, NOW + 60_000)).toEqual(first)
    expect(statusFor(application({}, first, 2), later, NOW).conditions?.[0]?.reason).toBe('ImagePullBackOff')
  })

  test('a fixed rollout recovers', () => {
    const failed = of({ replicas: 1 }, { failingPods: [pod('a', waiting('ErrImagePull'))] })
    const seen = observed({ deployment: deployment({}, all(3)) })
    expect(summary(statusFor(application({}, failed), seen))).toBe(RUNNING)
  })
})

describe('conditions', () => {
  test('conditions keep the time of their last change, and foreign ones are not written', () => {
    const before = of({ ...all(3), readyReplicas: 2 })
    const other = {
      type: 'Theirs',
      status: 'True',
      reason: 'Why',
      message: '',
      lastTransitionTime: '2020-01-01T00:00:00Z',
    } as const
    const subject = application({}, { ...before, conditions: [...(before.conditions ?? []), other] })
    const after = statusFor(subject, observed({ deployment: deployment({}, all(3)) }), NOW + 5_000)
    expect(after.conditions?.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`)).toEqual([
      'Ready 2026-01-01T00:01:05Z',
      'Progressing 2026-01-01T00:01:00Z',
    ])
  })

  test('conditions report a failed reconcile', () => {
    const subject = application()
    const status = failedStatus(subject, rolloutOf(subject, observed()), 'No.', NOW)
    expect(summary(status)).toBe('Failed Ready=False/ReconciliationFailed Progressing=False/ReconciliationFailed')
    expect(status.observedGeneration).toBe(1)
    const long = failedStatus(subject, rolloutOf(subject, observed()), 'No. '.repeat(20_000), NOW)
    expect(long.conditions?.map(({ message }) => message.length)).toEqual([1_000, 1_000])
  })
})

describe('a run Once', () => {
  const once: ApplicationSpec = { ...plainSpec, run: 'Once', replicas: 2 }
  const ran = (status: JobStatus, before?: ApplicationStatus, more: Partial<Observed> = {}): ApplicationStatus => {
    const job: Stored<Job> = stored({ ...jobFor('shop', once), status })
    return statusFor(application(once, before), observed({ job, ...more }))
  }

  test('a run goes from Pending through Running to Succeeded', () => {
    expect(statusFor(application(once), observed()).phase).toBe('Pending')
    expect(summary(ran({ active: 2 }))).toBe('Pending Ready=False/RunInProgress Progressing=True/ReplicaSetUpdated')
    const running = ran({ active: 2, ready: 1 })
    expect(running).toMatchObject({ phase: 'Running', replicas: 2, readyReplicas: 1 })
    expect(ran({ active: 1, succeeded: 1 }, running).phase).toBe('Running')
    expect(ran({}, running).phase).toBe('Running')
    const done = ran({ succeeded: 2, conditions: [{ type: 'Complete', status: 'True' }] }, running)
    expect(summary(done)).toBe('Succeeded Ready=True/ReconciliationSucceeded Progressing=True/RunCompleted')
  })

  test('a run stays Succeeded without its Job until the spec changes', () => {
    const done = ran({ succeeded: 2, conditions: [{ type: 'Complete', status: 'True' }] })
    expect(statusFor(application(once, done), observed(), NOW + 60_000)).toEqual(done)
    expect(statusFor(application(once, done, 2), observed()).phase).toBe('Pending')
    // An existing Job takes precedence.
    expect(ran({ active: 2 }, done).phase).toBe('Pending')
  })

  test('a failed Job makes the phase Failed', () => {
    const failed = ran({ conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] })
    expect(summary(failed)).toBe('Failed Ready=False/BackoffLimitExceeded Progressing=False/BackoffLimitExceeded')
    const failingPods = [pod('a', waiting('ErrImagePull'), podRevision('shop', once))]
    expect(ran({ active: 1 }, undefined, { failingPods }).phase).toBe('Failed')
  })
})
