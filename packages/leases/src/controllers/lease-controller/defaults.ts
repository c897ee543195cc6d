import {
  isAlreadyExists,
  isNotFound,
  type Kind,
  type KubeObject,
  mergePatch,
  metadataOf,
  type PartialObjectMetadata,
} from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import { type Component, type OperatorContext, QueueWorker } from '@tenure/runtime'
import { LEASE_CONTROLLER_GROUP, LeaseController, type LeaseControllerSpec } from '../../api/lease-controller.ts'
import { DEFAULTS_QUEUE } from '../../api/queue-names.ts'

/** Marks a default LeaseController: one of the user takes precedence. */
const DEFAULT_LABEL = `${LEASE_CONTROLLER_GROUP}/default`

const RETRY_MS = 10_000

export interface DefaultLeaseController {
  readonly name: string
  readonly spec: LeaseControllerSpec
}

/** The LeaseControllers that `npm start` creates; they run inside the operator. */
export const defaultLeaseControllers: readonly DefaultLeaseController[] = [
  // The operator waits until this kind is served.
  shared('applications', 'cloudnative.elide.dev', 'Application'),
  shared('deployments', 'apps', 'Deployment'),
  shared('statefulsets', 'apps', 'StatefulSet'),
  shared('pods', '', 'Pod'),
  shared('jobs', 'batch', 'Job'),
  shared('services', '', 'Service'),
  shared('configmaps', '', 'ConfigMap'),
  shared('secrets', '', 'Secret'),
]

function shared(name: string, group: string, kind: string): DefaultLeaseController {
  return { name, spec: { group, version: 'v1', kind, mode: 'shared' } }
}

export function isDefault({ metadata }: KubeObject): boolean {
  return metadata?.labels?.[DEFAULT_LABEL] === 'true'
}

/**
 * Creates each default once. After that it belongs to the user, who may change or delete it. An annotation on the CRD
 * records the creation: a deleted default that came back would delete objects that the user meant to keep.
 */
export function createDefaults(context: OperatorContext, defaults: readonly DefaultLeaseController[]): Component {
  const { clock, log, metrics } = context
  const worker = new QueueWorker({
    name: DEFAULTS_QUEUE,
    clock,
    log,
    metrics,
    backoff: { base: RETRY_MS, max: RETRY_MS },
    work: async (name, { signal }) => {
      const wanted = defaults.find((each) => each.name === name)
      if (wanted) await createOnce(context, wanted, signal)
    },
  })
  for (const { name } of defaults) worker.add(name)
  return worker
}

async function createOnce({ api }: OperatorContext, { name, spec }: DefaultLeaseController, signal: AbortSignal) {
  const annotation = `${LEASE_CONTROLLER_GROUP}/default-${name}`
  const definition = await ifFound(api.get(Definition, DEFINITION, { signal }))
  if (definition?.metadata.annotations?.[annotation] !== undefined) return
  try {
    await api.create(LeaseController, { metadata: { name, labels: { [DEFAULT_LABEL]: 'true' } }, spec }, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  const patch = mergePatch({ metadata: { annotations: { [annotation]: 'made' } } })
  // Without a CRD there is no place to record it.
  if (definition) await ifFound(api.patch(Definition, DEFINITION, patch, { signal }))
}

const Definition: Kind<PartialObjectMetadata> = metadataOf(CustomResourceDefinition)
const DEFINITION = { name: `leasecontrollers.${LEASE_CONTROLLER_GROUP}` }

async function ifFound<R>(request: Promise<R>): Promise<R | undefined> {
  try {
    return await request
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
