import { asError, isAlreadyExists, type KubeObject, sleep } from '@tenure/kube'
import type { Component, ManagerContext } from '@tenure/runtime'
import { LEASE_CONTROLLER_GROUP, LeaseController, type LeaseControllerSpec } from './api.ts'

/** Marks a LeaseController that came with the operator, so that one of the user's own goes before it. */
const DEFAULT_LABEL = `${LEASE_CONTROLLER_GROUP}/default`

/** Milliseconds between tries to make one. */
const RETRY = 10_000

export interface DefaultLeaseController {
  readonly name: string
  readonly spec: LeaseControllerSpec
}

/** The kinds of every day, leased in the operator's own process: what `npm start` brings along. */
export const dailyLeaseControllers: readonly DefaultLeaseController[] = [
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

/** Makes those that are not there, and leaves those that are as they are: they are the user's to change. */
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

/** Tries until it is there. Never rejects. */
async function make(context: ManagerContext, wanted: DefaultLeaseController, signal: AbortSignal): Promise<void> {
  const { api, clock, informers, log } = context
  const { name, spec } = wanted
  const { cache } = informers.informer(LeaseController)
  while (!signal.aborted && !cache.get({ name })) {
    try {
      await api.create(LeaseController, { metadata: { name, labels: { [DEFAULT_LABEL]: 'true' } }, spec }, { signal })
      return
    } catch (error) {
      if (isAlreadyExists(error) || signal.aborted) return
      log.warn('default lease controller not made, trying again', { name, error: asError(error) })
      await sleep(clock, RETRY, signal).catch(() => undefined)
    }
  }
}
