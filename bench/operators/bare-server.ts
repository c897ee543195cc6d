import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { json, ownServers, route } from '@tenure/http'
import type { Client, Transport } from '@tenure/kube'
import { configure, createMetrics, defineOperator, runOperators } from '@tenure/runtime'
import { z } from 'zod'
import { BareMembers, watchBareMembers } from './bare-members.ts'

export interface BareServer {
  close(): Promise<void>
}

const claimBody = z.object({ ttl: z.string().optional(), pool: z.string().optional() }).nullish()
const membersQuery = z.object({ prefix: z.string(), count: z.coerce.number().int() })

export interface BareServerOptions {
  readonly namespace: string
  readonly port: number
}

/** The members that are handed out, and the newest state of each by a watch. */
async function openMembers(client: Client, namespace: string) {
  const stop = new AbortController()
  const view = await watchBareMembers(client, namespace, stop.signal)
  let members: BareMembers | undefined
  let next = 0
  return {
    async create(options: z.infer<typeof membersQuery>): Promise<object> {
      members = await BareMembers.create(client, { namespace, ...options })
      next = 0
      return {}
    },
    async handOut(): Promise<object> {
      const index = next++
      await members?.handOut(index, view)
      return responseBody(`bare-${index}`, namespace)
    },
    close: () => stop.abort(),
  }
}

/**
 * The least that a program needs to hand out claims over HTTP: a watch that shows the newest state of the members, and for
 * each `POST /claim` a validated request, one conditional write, and a response of the same size. It has no time-outs,
 * metrics, limits, audit log, reservations or readiness. `POST /members?prefix=…&count=…` creates the members.
 */
export async function serveBareMembers(client: Client, { namespace, port }: BareServerOptions): Promise<BareServer> {
  const members = await openMembers(client, namespace)
  const app = fastify().withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.get('/', () => 'ready')
  app.post('/members', { schema: { querystring: membersQuery } }, ({ query }) => members.create(query))
  app.post('/claim', { schema: { body: claimBody } }, async (_request, reply) =>
    reply.code(201).send(await members.handOut()),
  )
  await app.listen({ port, host: '127.0.0.1' })
  return {
    close: async () => {
      members.close()
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

/**
 * As `serveBareMembers`, behind the HTTP server of operators: with access control, time-outs, limits of bodies and
 * connections, metrics and the audit log, which every API of an operator needs, and nothing of claims.
 */
export async function serveGuardedMembers(
  client: Client,
  transport: Transport,
  { namespace, port }: BareServerOptions,
): Promise<BareServer> {
  const members = await openMembers(client, namespace)
  const responses = { 201: { description: 'Done' } }
  const routes = [
    route({ method: 'GET', path: '/', summary: 'Ready', responses, handle: () => json(200, {}) }),
    route({
      method: 'POST',
      path: '/members',
      summary: 'Create members',
      query: membersQuery,
      responses,
      handle: async ({ query }) => json(201, await members.create(query)),
    }),
    route({
      method: 'POST',
      path: '/claim',
      summary: 'Hand out a member',
      body: claimBody,
      responses,
      handle: async () => json(201, await members.handOut()),
    }),
  ]
  const operator = defineOperator({
    name: 'bare-members',
    setup: () => ({ servers: [{ name: 'bare', address: `127.0.0.1:${port}`, routes }] }),
  })
  const stop = new AbortController()
  const ready = Promise.withResolvers<void>()
  const ended = runOperators(
    {
      operators: [configure(operator, {})],
      servers: [ownServers()],
      transport,
      metrics: await createMetrics(),
      onReady: () => ready.resolve(),
    },
    stop.signal,
  )
  ended.catch((error: unknown) => ready.reject(error))
  await ready.promise
  return {
    close: async () => {
      members.close()
      stop.abort()
      await ended
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
