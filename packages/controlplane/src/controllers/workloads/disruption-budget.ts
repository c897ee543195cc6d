import { type Condition, type Kind, type KubeObject, type ObjectRef, type Stored } from '@tenure/kube'
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  ReplicaSet,
  StatefulSet,
} from '@tenure/kube/kinds'
import { type Cache, controller, type ReconcileContext, requeueAt, setCondition, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { scaledIntOrPercent } from '../common/int-or-percent.ts'
import { matcherOf } from '../common/claim.ts'
import { candidates, LABELS, labelIndex, SELECTOR, selectorIndex, selectorValues } from '../common/labels.ts'
import { controllerOf } from '../common/owners.ts'
import { isActive, isReady } from '../common/pods.ts'
import { updateStatus } from '../common/status.ts'
import type { ControlPlaneContext } from '../context.ts'

/** Milliseconds after which an evicted pod that still exists counts as not disrupted. */
const DELETION_TIMEOUT_MS = 120_000

const budgetIndex = selectorIndex((budget: Stored<PodDisruptionBudget>) => budget.spec?.selector)

/** Reports the number of allowed disruptions. */
export const disruptionBudgets = builtIn('disruption', (context) => {
  const sizes = expectedSizes(context)
  return controller(PodDisruptionBudget, {
    name: 'disruption',
    watches: [
      watch(
        Pod,
        (pod, budgets: Cache<PodDisruptionBudget>) =>
          selectorValues(pod)
            .flatMap((value) => budgets.byIndex(SELECTOR, value))
            .filter((budget) => selectorOf(budget)?.matches(pod.metadata.labels))
            .map(({ metadata }): ObjectRef => metadata),
        { indexes: { [LABELS]: labelIndex } },
      ),
    ],
    indexes: { [SELECTOR]: budgetIndex },
    // Not a status function: the write must be conditional on resourceVersion, because evictions write the status too.
    reconcile: (context) => reconcile(context, sizes),
  })
})

interface Selector {
  matches(labels: Readonly<Record<string, string>> | undefined): boolean
}

/** An empty selector of a budget selects every pod. */
function selectorOf(budget: PodDisruptionBudget): Selector | undefined {
  const { selector } = budget.spec ?? {}
  if (!selector) return undefined
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0) === 0
  return isEmpty ? { matches: () => true } : matcherOf(selector)
}

async function reconcile(
  context: ReconcileContext<PodDisruptionBudget>,
  sizes: (pods: readonly Stored<Pod>[]) => number,
): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, now, object: budget, signal } = context
  const selector = selectorOf(budget)
  const found = candidates(context, Pod, budget.metadata.namespace, budget.spec?.selector)
  const pods = found.filter((pod) => selector?.matches(pod.metadata.labels) && isActive(pod))
  const { expected, desired } = figures(budget, pods, sizes)
  const disrupted = stillDisrupted(budget, pods, now)
  const currentHealthy = pods.filter((pod) => isReady(pod) && !Object.hasOwn(disrupted, pod.metadata.name)).length
  const allowed = expected > 0 ? Math.max(currentHealthy - desired, 0) : 0
  const { generation = 0 } = budget.metadata
  const isAllowed = allowed > 0
  const status: PodDisruptionBudgetStatus = {
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    disruptionsAllowed: allowed,
    currentHealthy,
    desiredHealthy: desired,
    expectedPods: expected,
    observedGeneration: generation,
    conditions: conditionFor(budget, isAllowed, generation, now),
  }
  await updateStatus(api, PodDisruptionBudget, budget, status, signal)
  const times = Object.values(disrupted).map((time) => Date.parse(time) + DELETION_TIMEOUT_MS)
  return times.length > 0 ? [requeueAt(Math.min(...times))] : []
}

function conditionFor(
  budget: PodDisruptionBudget,
  isAllowed: boolean,
  observedGeneration: number,
  now: number,
): readonly Condition[] {
  return setCondition(
    budget.status?.conditions,
    {
      type: 'DisruptionAllowed',
      status: isAllowed ? 'True' : 'False',
      reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration,
    },
    now,
  )
}

function figures(
  budget: PodDisruptionBudget,
  pods: readonly Stored<Pod>[],
  sizes: (pods: readonly Stored<Pod>[]) => number,
): { readonly expected: number; readonly desired: number } {
  const { maxUnavailable, minAvailable } = budget.spec ?? {}
  if (maxUnavailable !== undefined) {
    const expected = sizes(pods)
    return { expected, desired: Math.max(expected - scaledIntOrPercent(maxUnavailable, expected, 'up'), 0) }
  }
  if (typeof minAvailable === 'string') {
    const expected = sizes(pods)
    return { expected, desired: scaledIntOrPercent(minAvailable, expected, 'up') }
  }
  return { expected: pods.length, desired: minAvailable ?? 0 }
}

/** Evicted pods that are not deleted yet, within the timeout. */
function stillDisrupted(
  budget: PodDisruptionBudget,
  pods: readonly Stored<Pod>[],
  now: number,
): Readonly<Record<string, string>> {
  const names = new Set(pods.map(({ metadata }) => metadata.name))
  return Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, time]) => names.has(name) && Date.parse(time) + DELETION_TIMEOUT_MS > now,
    ),
  )
}

interface Scaled extends KubeObject {
  readonly spec?: { readonly replicas?: number }
}

/** Returns the total replicas of the owners of these pods. */
function expectedSizes({ informers }: ControlPlaneContext): (pods: readonly Stored<Pod>[]) => number {
  const kinds = new Map<string, Kind<Scaled>>()
  for (const kind of [ReplicaSet, StatefulSet, Deployment]) kinds.set(kind.kind, kind)
  const find = (object: KubeObject): Stored<Scaled> | undefined => {
    const owner = controllerOf(object)
    const kind = owner && kinds.get(owner.kind)
    if (!owner || !kind) return undefined
    const namespace = object.metadata?.namespace
    return informers.informer(kind).cache.get({ name: owner.name, namespace })
  }
  return (pods) => {
    const owners = new Map<string, number>()
    let without = 0
    for (const pod of pods) {
      const owner = find(pod)
      // A ReplicaSet counts as its Deployment.
      const top = owner && (find(owner) ?? owner)
      if (top) owners.set(top.metadata.uid, top.spec?.replicas ?? 1)
      else without++
    }
    return without + [...owners.values()].reduce((sum, size) => sum + size, 0)
  }
}
