import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Client } from '@tenure/kube'
import { BareMembers, watchBareMembers } from './bare-members.ts'

export interface BareServer {
  close(): void
}

/**
 * The least that any program needs to hand out claims over HTTP: a watch that shows the newest state of the members, and
 * for each `POST /claim` one conditional write and a response of the same size. `POST /members?prefix=…&count=…` creates the members that it hands out.
 */
export async function serveBareMembers(
  client: Client,
  { namespace, port }: { readonly namespace: string; readonly port: number },
): Promise<BareServer> {
  const stop = new AbortController()
  const view = await watchBareMembers(client, namespace, stop.signal)
  let members: BareMembers | undefined
  let next = 0
  const answer = async ({ url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    if (pathname === '/members') {
      const prefix = searchParams.get('prefix') ?? ''
      members = await BareMembers.create(client, { namespace, prefix, count: Number(searchParams.get('count')) })
      next = 0
    }
    if (pathname !== '/claim' || !members) return void response.end()
    const index = next++
    await members.handOut(index, view)
    response.writeHead(201, { 'content-type': 'application/json' }).end(responseBody(`bare-${index}`, namespace))
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    close: () => {
      stop.abort()
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Creates the members of the next round of a bare server. */
export async function prepareBareMembers(port: number, prefix: string, count: number): Promise<void> {
  const { ok } = await fetch(`http://127.0.0.1:${port}/members?prefix=${prefix}&count=${count}`, { method: 'POST' })
  if (!ok) throw new Error('The members could not be created')
}

function responseBody(id: string, namespace: string): string {
  return JSON.stringify({
    data: { host: `${id}.${namespace}` },
    expiresAt: new Date().toISOString(),
    id,
    preProvisioned: true,
    releaseMethod: 'POST',
    releasePath: `/release/${id}`,
    renewMethod: 'POST',
    renewPath: `/renew/${id}`,
    status: 'ok',
  })
}
