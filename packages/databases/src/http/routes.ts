import { type Route, route, text } from '@tenure/http'
import type { OperatorContext } from '@tenure/runtime'
import { z } from 'zod'

/** Probes as the original answers them, on a port of their own. */
export function healthRoutes({ probes }: Pick<OperatorContext, 'probes'>): readonly Route[] {
  return (['live', 'ready'] as const).map((kind) =>
    route({
      method: 'GET',
      path: kind === 'live' ? '/healthz' : '/readyz',
      summary:
        kind === 'live' ? 'Liveness probe' : 'Readiness probe: the database, the API server and all watches are usable',
      tags: ['health'],
      access: 'public',
      responses: {
        200: { description: kind === 'live' ? 'ok' : 'ready', schema: z.string() },
        503: { description: 'One line per problem', schema: z.string() },
      },
      handle: async () => {
        const problems = (await probes.check(kind)).filter(({ problem }) => problem !== undefined)
        if (problems.length === 0) return text(200, kind === 'live' ? 'ok' : 'ready')
        return text(503, problems.map(({ name, problem }) => `${name}: ${problem}\n`).join(''))
      },
    }),
  )
}
