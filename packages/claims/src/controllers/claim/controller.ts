import { ConfigMap } from '@tenure/kube/kinds'
import { controller, type ControllerDefinition, type ReconcileOutcome } from '@tenure/runtime'
import { type Claim, claimExpiry } from '../../api/claim.ts'
import { CLAIM_SELECTOR, MANAGED_SELECTOR } from '../../api/names.ts'
import { KindLookups } from './kind-lookups.ts'
import { type ClaimPlanOptions, expireClaim, planClaim } from './plan.ts'
import { kindsOfClaim } from './resources.ts'
import { claimStatus } from './status.ts'

const CONCURRENCY = 16
const RETRY_BACKOFF = { base: 100, max: 30_000 }

export interface ClaimControllerOptions extends ClaimPlanOptions {
  readonly namespace: string
  /** Milliseconds between reconciles of all claims although nothing changed. */
  readonly resync: number
  /** Called when a claim was removed because its time is over. */
  readonly onExpired: (claim: Claim) => void
  /** Default: none. */
  readonly onReconciled?: (outcome: ReconcileOutcome) => void
}

/** Creates the resources of claims, reports their state, and removes claims whose time is over. */
export function claimController(options: ClaimControllerOptions): ControllerDefinition<ConfigMap> {
  const { kinds, namespace, onExpired, onReconciled, resync } = options
  const lookups = new KindLookups(kinds)
  return controller(ConfigMap, {
    name: 'claim',
    selection: { namespace, labelSelector: CLAIM_SELECTOR },
    ownedKinds: {
      of: (object) => kindsOfClaim(object, kinds),
      selection: { namespace, labelSelector: MANAGED_SELECTOR },
    },
    concurrency: CONCURRENCY,
    backoff: RETRY_BACKOFF,
    // A foreign object of the same name, a quota or a policy may go without a change of the claim.
    retryTerminal: true,
    resync,
    onReconciled,
    plan: (context) => {
      lookups.begin(context.object)
      return planClaim(options, context)
    },
    status: (context) => (lookups.hasFound(context.object) ? undefined : claimStatus(kinds, context)),
    expiresAt: claimExpiry,
    expire: (context) => expireClaim(context, onExpired),
  })
}
