import { type Kind, kindKey } from '@tenure/kube'

/** Names of queues in logs, in metrics and on the dashboard. */
export const DEFAULTS_QUEUE = 'default lease controllers'
export const HELD_JOBS_QUEUE = 'held cleanup jobs'

/** The queues of one kind's controller. */
export function queueNames(kind: Kind): { readonly controller: string; readonly warnings: string } {
  const key = kindKey(kind)
  return { controller: `leases ${key}`, warnings: `expiry warnings ${key}` }
}
