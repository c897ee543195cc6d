import type { View } from '@tenure/http'
import type { Component, ComponentDefinition, ControllerDefinition, OperatorContext } from '@tenure/runtime'
import type { ConfigMap } from '@tenure/kube/kinds'
import { claimController } from './controllers/claim/controller.ts'
import { poolController, PoolReports } from './controllers/pool/controller.ts'
import { AbandonedClaims } from './handout/abandoned-claims.ts'
import { Callers } from './handout/callers.ts'
import { ClaimService } from './handout/claim-service.ts'
import { ClaimView } from './handout/claim-view.ts'
import type { Pools } from './handout/pools.ts'
import { claimsView } from './http/views/claims-view.ts'
import { poolsView } from './http/views/pools-view.ts'
import { ClaimMetrics } from './metrics.ts'
import { ClaimKinds } from './template/claim-kinds.ts'

export interface ClaimPartsOptions {
  readonly namespace: string
  readonly pools: Pools
  /** 0: no limit. */
  readonly maxClaimsPerCaller: number
  /** Milliseconds between reconciles of all claims although nothing changed. */
  readonly resync: number
  /** Milliseconds; for claims of pools that are no longer configured. */
  readonly defaultTtl: number
}

/** The parts of the operator, without its routes and the sources of its templates. */
export interface ClaimParts {
  readonly view: ClaimView
  readonly reports: PoolReports
  readonly service: ClaimService
  readonly controller: ControllerDefinition<ConfigMap>
  /** They run on every replica. */
  readonly components: readonly ComponentDefinition[]
  readonly views: readonly View[]
  /** Fills the pools, on the leader. */
  filler(leader: OperatorContext): Component
}

export function claimParts(context: OperatorContext, options: ClaimPartsOptions): ClaimParts {
  const { clock } = context
  const { defaultTtl, maxClaimsPerCaller, namespace, pools, resync } = options
  const kinds = new ClaimKinds(context.discovery)
  const view = new ClaimView(context, namespace)
  const reports = new PoolReports()
  const metrics = new ClaimMetrics(context.metrics, (pool) => reports.changed(pool))
  const abandoned = new AbandonedClaims(context, view, namespace)
  const callers = new Callers(view, clock, maxClaimsPerCaller)
  const shared = { namespace, pools, view, kinds }
  return {
    view,
    reports,
    service: new ClaimService(context, { ...shared, abandoned, callers, metrics }),
    controller: claimController({
      kinds,
      namespace,
      resync,
      defaultTtl: (pool) => pools.get(pool)?.defaultTtl ?? defaultTtl,
      onExpired: (claim) => metrics.expired(claim, clock.now()),
    }),
    components: [
      metrics.collector({ view, pools, reports, now: () => clock.now() }),
      { stage: 'work', create: () => abandoned },
    ],
    views: [claimsView(view), poolsView(context, { namespace, pools, view, reports, metrics })],
    filler: (leader) => poolController(leader, { ...shared, reports, onMemberCreated: () => metrics.memberCreated() }),
  }
}
