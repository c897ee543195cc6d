import type { KubeObject, Stored } from '@tenure/kube'
import type { OperatorContext } from '@tenure/runtime'
import { LEADER_LEASE, REASONS } from '../api/names.ts'
import type { Pool } from './pools.ts'

/** Between Events of one pool that differ: with values of callers, every call may fail in its own way. */
const MIN_EVENT_INTERVAL_MS = 10_000

/** Reports templates that cannot be used: once, until they can. */
export class TemplateFailures {
  readonly #context: Pick<OperatorContext, 'clock' | 'identity' | 'log' | 'recorder'>
  readonly #namespace: string
  /** By pool. */
  readonly #reported = new Map<string, { readonly message: string; readonly at: number }>()

  constructor(context: Pick<OperatorContext, 'clock' | 'identity' | 'log' | 'recorder'>, namespace: string) {
    this.#context = context
    this.#namespace = namespace
  }

  report(pool: Pool, error: Error): void {
    const { clock, log, recorder } = this.#context
    const now = clock.monotonic()
    const last = this.#reported.get(pool.name)
    if (last && (last.message === error.message || now - last.at < MIN_EVENT_INTERVAL_MS)) return
    this.#reported.set(pool.name, { message: error.message, at: now })
    log.warn('pool template cannot be used', { pool: pool.name, error })
    const message = `The template of the pool ${pool.name} cannot be used: ${error.message}`
    recorder.record(this.#subject(pool), { type: 'Warning', reason: REASONS.templateFailed, message })
  }

  /** The template can be used. */
  clear({ name }: Pool): void {
    this.#reported.delete(name)
  }

  /** Events about a pool regard the ConfigMap of its values, or the Lease of the election: a pool is not an object. */
  #subject({ source }: Pool): Stored<KubeObject> {
    const namespace = this.#namespace
    const about = source.owner
      ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...source.owner, namespace } }
      : {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: this.#context.identity.lease?.name ?? LEADER_LEASE, namespace, uid: '' },
        }
    return { ...about, metadata: { resourceVersion: '', creationTimestamp: '', ...about.metadata } }
  }
}
