import type { Stored } from '@tenure/kube'
import type { Pod } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { nextStep } from './pod-lifecycle.ts'
import { podScript } from './simulation.ts'

const pod: Stored<Pod> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { containers: [{ name: 'web', image: 'nginx' }] },
}

test('a remaining wait of less than a millisecond is rounded up to advance the clock', () => {
  const script = podScript(pod, {})
  const elapsed = script.pull - 1e-12
  expect(nextStep({ pod, script, stage: 'creating', elapsed, now: 0 })).toEqual({ type: 'wait', after: 1 })
})
