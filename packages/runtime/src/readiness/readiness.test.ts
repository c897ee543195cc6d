import type { KubeObject } from '@tenure/kube'
import { expect, test } from 'vitest'
import { readinessOf } from './index.ts'

const object = (apiVersion: string, kind: string, fields: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'a', generation: 2 },
  ...fields,
})
const pod = (status: object): KubeObject => object('v1', 'Pod', { status })
const conditions = (type: string, status: string) => ({ conditions: [{ type, status }] })
const waitingFor = (reason: string, more: object = {}) => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'c', state: { waiting: { reason } }, ...more }],
})
const replicas = (readyReplicas: number, observedGeneration = 2) => ({
  spec: { replicas: 2 },
  status: { readyReplicas, observedGeneration },
})

test.each([
  ['no object', undefined, 'waiting', 'not created yet'],
  ['a pod without status', pod({}), 'waiting', 'pod phase=Pending'],
  ['a running pod', pod({ phase: 'Running', ...conditions('Ready', 'False') }), 'waiting', 'pod phase=Running'],
  ['a ready pod', pod({ phase: 'Running', ...conditions('Ready', 'True') }), 'ready', 'pod ready'],
  ['a pod that succeeded', pod({ phase: 'Succeeded' }), 'ready', 'pod succeeded'],
  ['a failed pod', pod({ phase: 'Failed' }), 'failed', 'pod failed'],
  [
    'an evicted pod',
    pod({ phase: 'Failed', reason: 'Evicted', message: 'low disk' }),
    'disrupted',
    'pod failed (Evicted: low disk)',
  ],
  [
    'a pod on a draining node',
    pod({ phase: 'Running', ...conditions('DisruptionTarget', 'True') }),
    'disrupted',
    'pod disrupted',
  ],
  [
    'an image that cannot be pulled',
    pod(waitingFor('ImagePullBackOff')),
    'stuck',
    'pod phase=Pending (ImagePullBackOff)',
  ],
  [
    'a container that crashes',
    pod(waitingFor('CrashLoopBackOff', { lastState: { terminated: { message: 'no\nconfig' } } })),
    'stuck',
    'pod phase=Pending (CrashLoopBackOff: no config)',
  ],
  ['a ready Deployment', object('apps/v1', 'Deployment', replicas(2)), 'ready', 'deployment ready (2/2)'],
  ['a Deployment on its way', object('apps/v1', 'Deployment', replicas(1)), 'waiting', 'deployment not ready (1/2)'],
  [
    'an outdated Deployment status',
    object('apps/v1', 'Deployment', replicas(2, 1)),
    'waiting',
    'deployment not ready (2/2)',
  ],
  [
    'a Deployment that is not available',
    object('apps/v1', 'Deployment', {
      spec: { replicas: 2 },
      status: { readyReplicas: 2, observedGeneration: 2, ...conditions('Available', 'False') },
    }),
    'waiting',
    'deployment not ready (2/2)',
  ],
  ['a Deployment without status', object('apps/v1', 'Deployment', {}), 'waiting', 'deployment not ready (0/1)'],
  [
    'a Deployment of no replicas',
    object('apps/v1', 'Deployment', { spec: { replicas: 0 }, status: { observedGeneration: 2 } }),
    'ready',
    'deployment ready (0/0)',
  ],
  ['a StatefulSet on its way', object('apps/v1', 'StatefulSet', replicas(1)), 'waiting', 'statefulset not ready (1/2)'],
  ['a ReplicaSet', object('apps/v1', 'ReplicaSet', replicas(2)), 'ready', 'replicaset ready (2/2)'],
  ['a ReplicaSet on its way', object('apps/v1', 'ReplicaSet', replicas(0)), 'waiting', 'replicaset not ready (0/2)'],
  [
    'a DaemonSet',
    object('apps/v1', 'DaemonSet', { status: { desiredNumberScheduled: 3, numberReady: 3, observedGeneration: 2 } }),
    'ready',
    'daemonset ready (3/3)',
  ],
  [
    'a DaemonSet on its way',
    object('apps/v1', 'DaemonSet', { status: { desiredNumberScheduled: 3, numberReady: 1, observedGeneration: 2 } }),
    'waiting',
    'daemonset not ready (1/3)',
  ],
  ['a new DaemonSet', object('apps/v1', 'DaemonSet', {}), 'waiting', 'daemonset not ready (0/0)'],
  ['a complete Job', object('batch/v1', 'Job', { status: conditions('Complete', 'True') }), 'ready', 'job complete'],
  [
    'a Job on its way',
    object('batch/v1', 'Job', { spec: { completions: 3 }, status: { succeeded: 1 } }),
    'waiting',
    'job not complete (1/3)',
  ],
  [
    'a Job that failed with a reason',
    object('batch/v1', 'Job', {
      status: {
        conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'too often' }],
      },
    }),
    'failed',
    'job failed (BackoffLimitExceeded: too often)',
  ],
  [
    'a pod that failed with the last words of its container',
    pod({
      phase: 'Failed',
      containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 3, reason: 'Error', message: 'no disk' } } }],
    }),
    'failed',
    'pod failed (Error: no disk)',
  ],
  ['a volume on its way', object('v1', 'PersistentVolumeClaim', {}), 'waiting', 'volume phase=Pending'],
  [
    'a load balancer with an address',
    object('v1', 'Service', {
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } },
    }),
    'ready',
    'load balancer ready',
  ],
  [
    'a custom resource that is available',
    object('a.dev/v1', 'Site', { status: conditions('Available', 'True') }),
    'ready',
    'condition Available is true',
  ],
  [
    'a custom resource with a condition that is not an object',
    object('a.dev/v1', 'Site', { status: { conditions: ['Ready'] } }),
    'ready',
    'resource exists',
  ],
  ['a Deployment of another group', object('a.dev/v1', 'Deployment', {}), 'ready', 'resource exists'],
  ['a StatefulSet', object('apps/v1', 'StatefulSet', replicas(2)), 'ready', 'statefulset ready (2/2)'],
  ['a failed Job', object('batch/v1', 'Job', { status: conditions('Failed', 'True') }), 'failed', 'job failed'],
  ['a bound volume', object('v1', 'PersistentVolumeClaim', { status: { phase: 'Bound' } }), 'ready', 'volume bound'],
  ['a Service', object('v1', 'Service', { spec: { type: 'ClusterIP' } }), 'ready', 'resource exists'],
  [
    'a load balancer',
    object('v1', 'Service', { spec: { type: 'LoadBalancer' } }),
    'waiting',
    'load balancer has no address',
  ],
  ['a custom resource', object('a.dev/v1', 'Site', {}), 'ready', 'resource exists'],
  [
    'a custom resource that is not ready',
    object('a.dev/v1', 'Site', { status: conditions('Ready', 'False') }),
    'waiting',
    'condition Ready is not true',
  ],
  [
    'a child that is being deleted',
    object('v1', 'ConfigMap', { metadata: { deletionTimestamp: 'x' } }),
    'waiting',
    'being deleted',
  ],
])('%s has the right state', (_, given, state, message) => {
  const { hasFailed, isDisrupted, isReady, isStuck, message: text } = readinessOf(given)
  const found = isReady ? 'ready' : isDisrupted ? 'disrupted' : hasFailed ? 'failed' : isStuck ? 'stuck' : 'waiting'
  expect([found, text]).toEqual([state, message])
})
