import type { ManagerContext } from '@tenure/runtime'
import { z } from 'zod'
import type { HttpError } from '../errors/http-error.ts'
import { type HttpResponse, text } from './response.ts'
import { type Route, route } from './route.ts'

export interface ProbeRoutesOptions {
  /** The state that /readyz checks, for the OpenAPI document: `caches are synced`. */
  readonly readiness: string
  /** Body of a /readyz without problems. Default `ok`. */
  readonly readyText?: string
  /** Shapes the response to a failure of the server. Default: `{"error", "details"?}`. */
  readonly shapeFailure?: (failure: HttpError) => HttpResponse | undefined
}

/** `/healthz` and `/readyz` for a server of an operator alone: plain text, and 503 with one line per problem. */
export function probeRoutes(
  { probes }: Pick<ManagerContext, 'probes'>,
  { readiness, readyText = 'ok', shapeFailure }: ProbeRoutesOptions,
): readonly Route[] {
  const kinds = [
    { kind: 'live', path: '/healthz', summary: 'Liveness probe', body: 'ok' },
    { kind: 'ready', path: '/readyz', summary: `Readiness probe: ${readiness}`, body: readyText },
  ] as const
  return kinds.map(({ body, kind, path, summary }) =>
    route({
      method: 'GET',
      path,
      summary,
      tags: ['health'],
      access: 'public',
      responses: { 200: plainText(body), 503: plainText('One line per problem') },
      handle: async () => {
        const problems = (await probes.check(kind)).filter(({ problem }) => problem !== undefined)
        if (problems.length === 0) return text(200, body)
        return text(503, problems.map(({ name, problem }) => `${name}: ${problem}\n`).join(''))
      },
      ...(shapeFailure && { shapeFailure }),
    }),
  )
}

const plainText = (description: string) => ({ description, schema: z.string(), contentType: 'text/plain' })
