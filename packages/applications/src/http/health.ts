import type { Route } from '@tenure/http'
import { json, route, text } from '@tenure/http'
import type { ManagerContext } from '@tenure/runtime'
import { z } from 'zod'
import type { Election } from './leadership.ts'
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
  context: ManagerContext,
  election: Election,
  { readyzLeaderOnly = false }: ApplicationRoutesOptions,
): readonly Route[] {
  const { probes, metrics } = context
  return [
    route({
      method: 'GET',
      path: '/healthz',
      summary: 'Is the process alive?',
      tags: TAGS,
      access: 'public',
      responses: {
        200: { description: 'It is', schema: z.object({ status: z.literal('healthy') }) },
        503: { description: 'It should be started again', schema: z.object({ status: z.literal('unhealthy') }) },
      },
      handle: async () => {
        const problems = problemsIn(await probes.check('live'))
        return problems.length === 0 ? json(200, { status: 'healthy' }) : json(503, { status: 'unhealthy', problems })
      },
    }),
    route({
      method: 'GET',
      path: '/readyz',
      summary: 'Are the caches full and the watches up?',
      tags: TAGS,
      access: 'public',
      responses: {
        200: { description: 'Yes, also on a replica that does not lead', schema: readiness },
        503: { description: 'No, and why', schema: readiness },
      },
      handle: async () => {
        // Who leads is a courtesy here; whether we are ready does not hang on it.
        const [results, leader] = await Promise.all([probes.check('ready'), leaderOf(election)])
        const isLeader = context.isLeader()
        const problems = problemsIn(results)
        if (readyzLeaderOnly && !isLeader) problems.push('leader: this replica does not lead')
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
      summary: 'Who leads, and the Lease that says so',
      tags: TAGS,
      responses: {
        200: { description: 'Leadership', schema: leadership },
        503: failure('The Lease can not be read now'),
      },
      handle: async () => json(200, await election.leadership()),
    }),
    route({
      method: 'GET',
      path: '/metrics',
      summary: 'Figures, for Prometheus',
      tags: TAGS,
      responses: { 200: { description: 'The text format', schema: z.string(), contentType: 'text/plain' } },
      handle: async () => {
        const { contentType, text: exposed } = await metrics.expose()
        return text(200, exposed, contentType)
      },
    }),
  ]
}

async function leaderOf(election: Election): Promise<string | null> {
  try {
    return (await election.leadership()).identity
  } catch {
    // The watches' checks tell that the API server is away.
    return null
  }
}

function problemsIn(results: readonly { readonly name: string; readonly problem: string | undefined }[]): string[] {
  return results.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]))
}
