import type { Pod, StatefulSet } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { rolloutOf } from './rollout.ts'

const NOW = Date.parse('2026-06-11T20:48:11Z')

const statefulSet: StatefulSet = {
  metadata: { name: 'orders', generation: 2 },
  spec: { replicas: 1, selector: {}, template: {} },
  status: { observedGeneration: 2, replicas: 1, currentRevision: 'a', updateRevision: 'a' },
}

function unschedulable(lastTransitionTime: string): Pod {
  const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', lastTransitionTime }
  return { metadata: { name: 'orders-0' }, status: { conditions: [{ ...condition, message: 'no volume' }] } }
}

test('a rollout is ready when all pods of the last revision are', () => {
  const ready = { ...statefulSet, status: { ...statefulSet.status, replicas: 1, readyReplicas: 1 } }
  expect(rolloutOf(ready, [], NOW)).toEqual({ state: 'ready' })
  expect(rolloutOf({ ...ready, metadata: { generation: 3 } }, [], NOW)).toEqual({ state: 'progressing' })
  const updated = { ...ready, status: { ...ready.status, updateRevision: 'b' } }
  expect(rolloutOf(updated, [], NOW)).toEqual({ state: 'progressing' })
  expect(rolloutOf(undefined, [], NOW)).toEqual({ state: 'progressing' })
})

test('a pod that no node takes fails the rollout only after ten seconds', () => {
  expect(rolloutOf(statefulSet, [unschedulable('2026-06-11T20:48:05Z')], NOW)).toEqual({
    state: 'progressing',
    recheckAfter: 4_000,
  })
  expect(rolloutOf(statefulSet, [unschedulable('2026-06-11T20:48:01Z')], NOW)).toEqual({
    state: 'failing',
    reason: 'Unschedulable: Pod orders-0: no volume',
  })
})

test('a crashing container fails the rollout at once', () => {
  const pod: Pod = {
    metadata: { name: 'orders-0' },
    status: {
      containerStatuses: [
        {
          name: 'database',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1 } },
        },
      ],
    },
  }
  expect(rolloutOf(statefulSet, [pod], NOW)).toEqual({
    state: 'failing',
    reason: 'CrashLoopBackOff: Pod orders-0: container database keeps crashing, with exit code 1',
  })
})
