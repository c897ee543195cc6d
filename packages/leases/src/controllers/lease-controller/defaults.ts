import {
  asError,
  isAlreadyExists,
  isNotFound,
  type Kind,
  type KubeObject,
  mergePatch,
  metadataOf,
  type PartialObjectMetadata,
  sleep,
} from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { Component, ManagerContext } from '@tenure/runtime'
import { LEASE_CONTROLLER_GROUP, LeaseController, type LeaseControllerSpec } from '../../api/lease-controller.ts'

/** Marks a LeaseController that came with the operator, so that one of the user's own goes before it. */
const DEFAULT_LABEL = `${LEASE_CONTROLLER_GROUP}/default`

/** Milliseconds between tries to make one. */
const RETRY = 10_000

export interface DefaultLeaseController {
  readonly name: string
  readonly spec: LeaseControllerSpec
}

/** The kinds of every day, leased in the operator's own process: what `npm start` brings along. */
export const defaultLeaseControllers: readonly DefaultLeaseController[] = [
  // Served as soon as somebody installs it, which is all that need be known of it here.
  daily('applications', 'cloudnative.elide.dev', 'Application'),
  daily('deployments', 'apps', 'Deployment'),
  daily('statefulsets', 'apps', 'StatefulSet'),
  daily('pods', '', 'Pod'),
  daily('jobs', 'batch', 'Job'),
  daily('services', '', 'Service'),
  daily('configmaps', '', 'ConfigMap'),
  daily('secrets', '', 'Secret'),
]

function daily(name: string, group: string, kind: string): DefaultLeaseController {
  return { name, spec: { group, version: 'v1', kind, mode: 'shared' } }
}

export function isDefault({ metadata }: KubeObject): boolean {
  return metadata?.labels?.[DEFAULT_LABEL] === 'true'
}

/**
 * Makes each once, and leaves it as it is from then on: it is the user's to change, and to remove. That it was made is
 * noted on the definition: one that was removed and came back would delete what its user meant to keep.
 */
export function createDefaults(context: ManagerContext, defaults: readonly DefaultLeaseController[]): Component {
  const ended = new AbortController()
  let making: Promise<void> = Promise.resolve()
  return {
    name: 'default lease controllers',
    start() {
      // Not waited for: whatever keeps one from being made must not keep the rest of the operator from its work.
      making = Promise.all(defaults.map((wanted) => make(context, wanted, ended.signal))).then(() => undefined)
      return Promise.resolve()
    },
    async stop() {
      ended.abort(new Error('the operator stops'))
      await making
    },
  }
}

/** Tries until it is there, or was. Never rejects. */
async function make(context: ManagerContext, wanted: DefaultLeaseController, signal: AbortSignal): Promise<void> {
  const { clock, log } = context
  const { name } = wanted
  while (!signal.aborted) {
    try {
      await makeOnce(context, wanted, signal)
      return
    } catch (error) {
      if (signal.aborted) return
      log.warn('default lease controller not made, trying again', { name, error: asError(error) })
      await sleep(clock, RETRY, signal).catch(() => undefined)
    }
  }
}

async function makeOnce({ api }: ManagerContext, { name, spec }: DefaultLeaseController, signal: AbortSignal) {
  const note = `${LEASE_CONTROLLER_GROUP}/default-${name}`
  const definition = await ifThere(api.get(Definition, DEFINITION, { signal }))
  if (definition?.metadata.annotations?.[note] !== undefined) return
  try {
    await api.create(LeaseController, { metadata: { name, labels: { [DEFAULT_LABEL]: 'true' } }, spec }, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  const patch = mergePatch({ metadata: { annotations: { [note]: 'made' } } })
  // Without a definition of its own there is nothing to note it on.
  if (definition) await ifThere(api.patch(Definition, DEFINITION, patch, { signal }))
}

const Definition: Kind<PartialObjectMetadata> = metadataOf(CustomResourceDefinition)
const DEFINITION = { name: `leasecontrollers.${LEASE_CONTROLLER_GROUP}` }

async function ifThere<R>(request: Promise<R>): Promise<R | undefined> {
  try {
    return await request
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
