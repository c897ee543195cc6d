import { isConflict, isNotFound, type KubeApi, mergePatch, type Stored } from '@tenure/kube'
import { Job, Pod } from '@tenure/kube/kinds'
import { isFinished, podFromTemplate } from '../common/pods.ts'

/** Finalizer that keeps a finished pod until it is counted. */
export const TRACKING = 'batch.kubernetes.io/job-tracking'
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'

export function isTracked({ metadata }: Stored<Pod>): boolean {
  return metadata.finalizers?.includes(TRACKING) ?? false
}

export async function untrack(api: KubeApi, pod: Stored<Pod>, signal: AbortSignal): Promise<void> {
  const { finalizers = [], resourceVersion } = pod.metadata
  const left = finalizers.filter((name) => name !== TRACKING)
  const patch = mergePatch({ metadata: { resourceVersion, finalizers: left.length > 0 ? left : null } })
  try {
    await api.patch(Pod, pod.metadata, patch, { signal })
  } catch (error) {
    if (isNotFound(error)) return
    if (!isConflict(error)) throw error
    // The kubelet wrote the status; it does not affect the finalizer.
    const live = await api.get(Pod, pod.metadata, { signal }).catch(() => undefined)
    if (live?.metadata.uid === pod.metadata.uid && isTracked(live)) await untrack(api, live, signal)
  }
}

export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed'
}

export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata?.annotations?.[COMPLETION_INDEX]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

/** Builds a pod of a Job. Pods of indexed Jobs have an index. */
export function newJobPod(job: Stored<Job>, index: number | undefined): Pod {
  const template = job.spec?.template
  const suffix = index === undefined ? '' : `${index}-`
  const pod = podFromTemplate({
    ownerKind: Job,
    owner: job,
    template,
    generateName: `${job.metadata.name}-${suffix}`,
  })
  const metadata = { ...pod.metadata, finalizers: [...(pod.metadata?.finalizers ?? []), TRACKING] }
  if (index === undefined || !pod.spec) return { ...pod, metadata }
  const mark = { [COMPLETION_INDEX]: String(index) }
  const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`
  const env = { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } }
  const withIndex = (container: NonNullable<Pod['spec']>['containers'][number]): typeof container =>
    container.env?.some(({ name }) => name === env.name)
      ? container
      : { ...container, env: [...(container.env ?? []), env] }
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...mark },
      annotations: { ...metadata.annotations, ...mark },
    },
    spec: {
      ...pod.spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: pod.spec.containers.map(withIndex),
      ...(pod.spec.initContainers && { initContainers: pod.spec.initContainers.map(withIndex) }),
    },
  }
}

/** Formats indexes as in a Job's status, for example `0,2-4`. */
export function printIndexes(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].toSorted((a, b) => a - b)
  const ranges: string[] = []
  for (let at = 0; at < sorted.length;) {
    let last = at
    while (sorted[last + 1] === (sorted[last] ?? 0) + 1) last++
    ranges.push(last === at ? `${sorted[at]}` : `${sorted[at]}${last === at + 1 ? ',' : '-'}${sorted[last]}`)
    at = last + 1
  }
  return ranges.join(',')
}

export function readIndexes(text: string | undefined): Set<number> {
  const found = new Set<number>()
  for (const range of (text ?? '').split(',')) {
    const [first, last = first] = range.split('-').map(Number)
    if (!range || first === undefined || last === undefined || !(last - first < 100_000)) continue
    for (let index = first; index <= last; index++) found.add(index)
  }
  return found
}

/** The end time of a pod in milliseconds. */
export function endOf(pod: Stored<Pod>): number {
  const times = (pod.status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.finishedAt ?? [])
  const text = times.toSorted().at(-1) ?? pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp
  return Date.parse(text)
}

/** True if the pod has failed, or is being deleted unfinished and the replacement policy counts that. */
export function hasFailed(pod: Stored<Pod>, replacement: string): boolean {
  if (pod.status?.phase === 'Failed') return true
  const isDeleted = Boolean(pod.metadata.deletionTimestamp) && !isFinished(pod)
  return isDeleted && replacement === 'TerminatingOrFailed'
}
