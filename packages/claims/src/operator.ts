import { httpServerSettings } from '@tenure/http'
import { defineOperator, type OperatorContext } from '@tenure/runtime'
import { LEADER_LEASE, OPERATOR } from './api/names.ts'
import { claimsConfig, type ClaimsSettings } from './config.ts'
import type { Pool } from './handout/pools.ts'
import { plainFailure } from './http/failures.ts'
import { claimProbeRoutes, claimRoutes } from './http/routes.ts'
import { claimParts } from './parts.ts'
import { poolSettings } from './pool-settings.ts'
import { claimRules } from './rbac.ts'
import { LiveTemplate } from './template/source/live-template.ts'

/** Hands out ephemeral workloads over HTTP, from pools that it keeps warm, and removes them when their time is over. */
export const claims = defineOperator({
  name: 'claims',
  summary: 'Run the claims operator: ephemeral workloads on request, from a warm pool.',
  identity: { name: OPERATOR, leaderLease: LEADER_LEASE },
  config: claimsConfig,
  configEnvironment: 'CONFIG_PATH',
  embedded: { apiAddr: '127.0.0.1:8080', preProvisionClaimsCount: 3 },
  rbac: { cluster: [], namespace: claimRules() },
  setup(context) {
    const { settings } = context
    const { defaultTtl, maxClaimsPerCaller, namespace, reconcileInterval: resync } = settings
    const { pools, templates } = openPools(context)
    const parts = claimParts(context, { namespace, pools, maxClaimsPerCaller, resync, defaultTtl })
    const { reports, service, view } = parts
    const routes = claimRoutes(context, { namespace, pools, view, reports, service })
    return {
      controllers: [parts.controller],
      components: [
        ...parts.components,
        ...templates.map((template) => ({ stage: 'work' as const, create: () => template })),
        { stage: 'lead', create: (leader) => parts.filler(leader) },
      ],
      queues: () => [{ name: 'pool', informers: [parts.view.informer] }, { name: 'abandoned-claims' }],
      routes,
      views: parts.views,
      servers: [
        {
          ...httpServerSettings(settings),
          name: 'claims API',
          setting: 'API_ADDR',
          hostSetting: 'API_ADDR',
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
