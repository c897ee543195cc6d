import { httpServerSettings } from '@tenure/http'
import { defineOperator, type OperatorContext } from '@tenure/runtime'
import { LEADER_LEASE, OPERATOR } from './api/names.ts'
import { claimsConfig, type ClaimsSettings } from './config.ts'
import { claimController } from './controllers/claim/controller.ts'
import { poolController, PoolReports } from './controllers/pool/controller.ts'
import { AbandonedClaims } from './handout/abandoned-claims.ts'
import { Callers } from './handout/callers.ts'
import { ClaimService } from './handout/claim-service.ts'
import { ClaimView } from './handout/claim-view.ts'
import type { Pool } from './handout/pools.ts'
import { plainFailure } from './http/failures.ts'
import { claimProbeRoutes, claimRoutes } from './http/routes.ts'
import { ClaimMetrics } from './metrics.ts'
import { poolSettings } from './pool-settings.ts'
import { claimRules } from './rbac.ts'
import { ClaimKinds } from './template/claim-kinds.ts'
import { LiveTemplate } from './template/source/live-template.ts'

/** Hands out ephemeral workloads over HTTP, from pools that it keeps warm, and removes them when their time is over. */
export const claims = defineOperator({
  name: 'claims',
  summary: 'Runs the claims operator: ephemeral workloads on request, from a warm pool.',
  identity: { name: OPERATOR, leaderLease: LEADER_LEASE },
  config: claimsConfig,
  configEnvironment: 'CONFIG_PATH',
  embedded: { apiAddr: '127.0.0.1:8080', preProvisionClaimsCount: 3 },
  rbac: { cluster: [], namespace: claimRules() },
  setup(context) {
    const { clock, settings } = context
    const { namespace } = settings
    const { pools, templates } = openPools(context)
    const kinds = new ClaimKinds(context.discovery)
    const view = new ClaimView(context, namespace)
    const metrics = new ClaimMetrics(context.metrics)
    const reports = new PoolReports()
    const abandoned = new AbandonedClaims(context, view, namespace)
    const callers = new Callers(view, clock, settings.maxClaimsPerCaller)
    const shared = { namespace, pools, view, kinds }
    const service = new ClaimService(context, { ...shared, abandoned, callers, metrics })
    const routes = claimRoutes(context, { namespace, pools, view, reports, service })
    return {
      controllers: [
        claimController({
          kinds,
          namespace,
          resync: settings.reconcileInterval,
          defaultTtl: (pool) => pools.get(pool)?.defaultTtl ?? settings.defaultTtl,
          onExpired: (claim) => metrics.expired(claim, clock.now()),
        }),
      ],
      components: [
        metrics.collector({ view, pools, reports, now: () => clock.now() }),
        ...templates.map((template) => ({ stage: 'work' as const, create: () => template })),
        { stage: 'work', create: () => abandoned },
        {
          stage: 'lead',
          create: (leader) =>
            poolController(leader, { ...shared, reports, onMemberCreated: () => metrics.memberCreated() }),
        },
      ],
      routes,
      servers: [
        {
          ...httpServerSettings(settings),
          name: 'claims API',
          setting: 'API_ADDR',
          address: settings.apiAddr,
          info: { title: 'Tenure claims', version: '0.1.0' },
          routes: [...routes, ...claimProbeRoutes(context)],
          shapeFailure: plainFailure,
        },
      ],
    }
  },
})

function openPools(context: OperatorContext<ClaimsSettings>): {
  readonly pools: ReadonlyMap<string, Pool>
  readonly templates: readonly LiveTemplate[]
} {
  const { namespace } = context.settings
  const opened = poolSettings(context.settings).map(({ inputs, ...settings }) => {
    const source = new LiveTemplate(context, { pool: settings.name, namespace, inputs })
    return { pool: { ...settings, source }, source }
  })
  return {
    pools: new Map(opened.map(({ pool }) => [pool.name, pool])),
    templates: opened.map(({ source }) => source),
  }
}
