import type { Stored } from '@tenure/kube'
import { Pod } from '@tenure/kube/kinds'
import { isDeepEqual } from '@tenure/kube/model'
import {
  type Backoff,
  controller,
  type ControllerDefinition,
  type ControllerOptions,
  hasFinalizer,
  watch,
} from '@tenure/runtime'
import { Application, CONTROLLER_NAME, FINALIZER } from '../../api/index.ts'
import { applicationKey, applicationOf, CHILD_KINDS, MANAGED_SELECTOR } from './children/index.ts'
import { planCleanup } from './cleanup.ts'
import { FAILING_PODS } from './observed.ts'
import { planApplication } from './plan.ts'
import { podFailureOf } from '@tenure/kube/model'
import { PENDING_NEW, pendingNewValues, reportStatus } from './status-report.ts'

export interface ApplicationControllerOptions extends Pick<
  ControllerOptions<Application>,
  'recorder' | 'onReconciled'
> {
  /** Namespace to watch. Default: all. */
  readonly namespace?: string | undefined
  /** Number of Applications reconciled at once. Default 32. */
  readonly concurrency?: number | undefined
  /** Backoff of failed reconciles. Default: 1, 2, 4, 8, 16 s and so on, then every minute. */
  readonly backoff?: Backoff | undefined
}

const DEFAULT_BACKOFF = { base: 1_000, max: 60_000 }
/** High, because a reconcile mostly waits for the API server. */
const DEFAULT_CONCURRENCY = 32

/** Creates the workload of each Application and reports its status. */
export function applicationController(options: ApplicationControllerOptions = {}): ControllerDefinition<Application> {
  const selection = { ...MANAGED_SELECTOR, namespace: options.namespace }
  return controller(Application, {
    name: CONTROLLER_NAME,
    selection: { namespace: options.namespace },
    owns: CHILD_KINDS.map((kind) => ({ kind, selection })),
    watches: [watch(Pod, applicationsOfFailingPod, { selection, indexes: { [FAILING_PODS]: failingKeys } })],
    indexes: { [PENDING_NEW]: pendingNewValues },
    finalizer: FINALIZER,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    backoff: options.backoff ?? DEFAULT_BACKOFF,
    // Quotas, policies and foreign objects change without a change of the Application.
    retryTerminal: true,
    predicate: isRelevant,
    plan: planApplication,
    status: reportStatus,
    cleanup: planCleanup,
    recorder: options.recorder,
    onReconciled: options.onReconciled,
  })
}

/** Changes that matter to the plan: not labels and annotations. */
function isRelevant(object: Stored<Application>, old: Stored<Application> | undefined): boolean {
  const { generation, deletionTimestamp } = object.metadata
  return (
    generation !== old?.metadata.generation ||
    deletionTimestamp !== old?.metadata.deletionTimestamp ||
    !hasFinalizer(object, FINALIZER) ||
    !isDeepEqual(old?.status, object.status)
  )
}

/** Maps a pod to its Application when it begins or stops to fail: the runtime asks for both states of a change. */
function applicationsOfFailingPod(pod: Stored<Pod>) {
  const application = podFailureOf(pod) && applicationOf(pod.metadata)
  return application ? [application] : []
}

function failingKeys(pod: Stored<Pod>): readonly string[] {
  const key = podFailureOf(pod) && applicationKey(pod.metadata)
  return key ? [key] : []
}
