import {
  ClusterRole,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Job,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import type { Component } from '@tenure/runtime'
import { cronJobs } from './batch/cron-job.ts'
import { jobExpiry, jobs, orphanedJobPods } from './batch/job.ts'
import { garbageCollector } from './garbage/collector.ts'
import { bootstrap } from './namespaces/bootstrap.ts'
import { rootCertificates, serviceAccounts } from './namespaces/contents.ts'
import { namespaceLifecycle } from './namespaces/lifecycle.ts'
import { endpointSlices } from './network/endpoint-slices.ts'
import { endpoints } from './network/endpoints.ts'
import { kubelets } from './nodes/kubelet.ts'
import { nodes, type NodesOptions } from './nodes/node.ts'
import { scheduler } from './nodes/scheduler.ts'
import type { PodTimes } from './nodes/simulation.ts'
import { nodeTaints } from './nodes/taints.ts'
import type { BuiltInController, ControlPlaneContext } from './context.ts'
import { roleAggregation } from './rbac/role-aggregation.ts'
import { claimBinding } from './volumes/binding.ts'
import { volumeProtection } from './volumes/protection.ts'
import { volumeRelease } from './volumes/release.ts'
import { daemonSets } from './workloads/daemon-set.ts'
import { deployments } from './workloads/deployment.ts'
import { disruptionBudgets } from './workloads/disruption-budget.ts'
import { replicaSets } from './workloads/replica-set.ts'
import { statefulSets } from './workloads/stateful-set.ts'

export interface BuiltInControllersOptions {
  /** PEM for the ConfigMap `kube-root-ca.crt` in each namespace. Default: no such ConfigMap. */
  readonly certificateAuthority?: string
  /** The simulated nodes. With `false` there are none and pods stay pending. Default: one node. */
  readonly nodes?: (NodesOptions & { readonly times?: PodTimes; readonly events?: boolean }) | false
}

/** Kinds that other controllers watch with all fields: the garbage collector shares their informers. */
const SHARED_KINDS = [
  ClusterRole,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Job,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
]

/** The controllers of a control plane, in start order. */
export function builtInControllers(options: BuiltInControllersOptions = {}): readonly BuiltInController[] {
  const { certificateAuthority, nodes: simulated = {} } = options
  return [
    component('bootstrap', bootstrap),
    component('garbage-collector', (context) => garbageCollector(context, SHARED_KINDS)),
    component('namespace', namespaceLifecycle),
    serviceAccounts,
    ...(certificateAuthority === undefined ? [] : [rootCertificates(certificateAuthority)]),
    deployments,
    replicaSets,
    statefulSets,
    daemonSets,
    jobs,
    component('orphaned-job-pods', orphanedJobPods),
    jobExpiry,
    cronJobs,
    disruptionBudgets,
    roleAggregation,
    endpointSlices,
    endpoints,
    claimBinding,
    component('persistentvolume-release', volumeRelease),
    component('volume-protection', volumeProtection),
    nodeTaints,
    ...(simulated === false
      ? []
      : [
          component('nodes', (context) => nodes(context, simulated)),
          component('scheduler', scheduler),
          component('kubelet', (context) =>
            kubelets(context, { times: simulated.times ?? {}, events: simulated.events ?? true }),
          ),
        ]),
  ]
}

function component(name: string, create: (context: ControlPlaneContext) => Component): BuiltInController {
  return { name, create }
}
