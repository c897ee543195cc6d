import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Client } from '@tenure/kube'
import { z } from 'zod'
import { BareMembers, watchBareMembers } from './bare-members.ts'

export interface BareServer {
  close(): Promise<void>
}

const claimBody = z.object({ ttl: z.string().optional(), pool: z.string().optional() }).nullish()
const membersQuery = z.object({ prefix: z.string(), count: z.coerce.number().int() })

/**
 * The least that a program needs to hand out claims over HTTP, with the HTTP server that operators use: a watch that shows
 * the newest state of the members, and for each `POST /claim` a validated request, one conditional write, and a response
 * of the same size. It has no time-outs, metrics, limits, reservations or readiness. `POST /members?prefix=…&count=…`
 * creates the members that it hands out.
 */
export async function serveBareMembers(
  client: Client,
  { namespace, port }: { readonly namespace: string; readonly port: number },
): Promise<BareServer> {
  const stop = new AbortController()
  const view = await watchBareMembers(client, namespace, stop.signal)
  let members: BareMembers | undefined
  let next = 0
  const app = fastify().withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.get('/', () => 'ready')
  app.post('/members', { schema: { querystring: membersQuery } }, async ({ query }) => {
    members = await BareMembers.create(client, { namespace, ...query })
    next = 0
    return {}
  })
  app.post('/claim', { schema: { body: claimBody } }, async (_request, reply) => {
    const index = next++
    await members?.handOut(index, view)
    return reply.code(201).send(responseBody(`bare-${index}`, namespace))
  })
  await app.listen({ port, host: '127.0.0.1' })
  return {
    close: async () => {
      stop.abort()
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

/** Creates the members of the next round of a bare server. */
export async function prepareBareMembers(port: number, prefix: string, count: number): Promise<void> {
  const { ok } = await fetch(`http://127.0.0.1:${port}/members?prefix=${prefix}&count=${count}`, { method: 'POST' })
  if (!ok) throw new Error('The members could not be created')
}

function responseBody(id: string, namespace: string): object {
  return {
    data: { host: `${id}.${namespace}` },
    expiresAt: new Date().toISOString(),
    id,
    preProvisioned: true,
    releaseMethod: 'POST',
    releasePath: `/release/${id}`,
    renewMethod: 'POST',
    renewPath: `/renew/${id}`,
    status: 'ok',
  }
}
