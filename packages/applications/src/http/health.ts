import type { Route } from '@tenure/http'
import { json, route, text } from '@tenure/http'
import type { OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import type { LeadershipReader } from './leadership.ts'
import type { ApplicationRoutesOptions } from './options.ts'
import { failure } from './schemas.ts'

const TAGS = ['health']

const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  isLeader: z.boolean(),
  leader: z.string().nullable(),
  problems: z.array(z.string()).optional(),
})

const leadership = z.object({
  isLeader: z.boolean(),
  self: z.string(),
  identity: z.string().nullable(),
  lease: z
    .object({
      holderIdentity: z.string().nullable(),
      leaseDuration: z.number(),
      acquireTime: z.string().nullable(),
      renewTime: z.string().nullable(),
      leaderTransitions: z.number(),
    })
    .nullable(),
})

/** Probes, leadership and metrics. */
export function healthRoutes(
  context: OperatorContext,
  election: LeadershipReader,
  { readyzLeaderOnly = false }: ApplicationRoutesOptions,
): readonly Route[] {
  const { probes, metrics } = context
  return [
    route({
      method: 'GET',
      path: '/healthz',
      summary: 'Liveness probe',
      tags: TAGS,
      access: 'public',
      responses: {
        200: { description: 'The process is alive', schema: z.object({ status: z.literal('healthy') }) },
        503: { description: 'The process should be restarted', schema: z.object({ status: z.literal('unhealthy') }) },
      },
      handle: async () => {
        const problems = problemsIn(await probes.check('live'))
        return problems.length === 0 ? json(200, { status: 'healthy' }) : json(503, { status: 'unhealthy', problems })
      },
    }),
    route({
      method: 'GET',
      path: '/readyz',
      summary: 'Readiness probe: caches are synced and watches are up',
      tags: TAGS,
      access: 'public',
      responses: {
        200: { description: 'Ready; also on a replica that is not the leader', schema: readiness },
        503: { description: 'Not ready, with the problems', schema: readiness },
      },
      handle: async () => {
        // The leader is informative: a failure to read it does not affect readiness.
        const [results, leader] = await Promise.all([probes.check('ready'), leaderOf(election)])
        const isLeader = context.isLeader()
        const problems = problemsIn(results)
        if (readyzLeaderOnly && !isLeader) problems.push('leader: this replica is not the leader')
        const isReady = problems.length === 0
        return json(isReady ? 200 : 503, {
          status: isReady ? 'ready' : 'not ready',
          isLeader,
          leader,
          ...(!isReady && { problems }),
        })
      },
    }),
    route({
      method: 'GET',
      path: '/leader',
      summary: 'The leader and its Lease',
      tags: TAGS,
      responses: {
        200: { description: 'Leadership', schema: leadership },
        503: failure('The Lease cannot be read'),
      },
      handle: async () => json(200, await election.leadership()),
    }),
    route({
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      tags: TAGS,
      responses: { 200: { description: 'Prometheus text format', schema: z.string(), contentType: 'text/plain' } },
      handle: async () => {
        const { contentType, text: exposed } = await metrics.expose()
        return text(200, exposed, contentType)
      },
    }),
  ]
}

async function leaderOf(election: LeadershipReader): Promise<string | null> {
  try {
    return (await election.leadership()).identity
  } catch {
    // The checks of the watches report an unreachable API server.
    return null
  }
}

function problemsIn(results: readonly { readonly name: string; readonly problem: string | undefined }[]): string[] {
  return results.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]))
}
