// The claims operator and the embedded control plane in one process, as `npm start` runs them. The pool is filled, then
// its refill is paused. Each line of standard input is a number of conditional writes to time, and how many at a time: the
// process prints one line of JSON for each. The other ports hand out bare members over HTTP.
import { createInterface } from 'node:readline'
import { claims } from '@tenure/claims'
import { startControlPlane } from '@tenure/controlplane'
import { ownServers } from '@tenure/http'
import { Client } from '@tenure/kube'
import type { Transport } from '@tenure/kube'
import { configure, createMetrics, runOperators } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { flags } from '../../programs/usage.ts'
import { BareMembers } from '../bare-members.ts'
import { serveBareMembers, serveGuardedMembers } from '../bare-server.ts'
import { holdLease } from '../hold-lease.ts'

const flag = flags(process.argv.slice(2))
const namespace = 'default'
const apiAddr = `127.0.0.1:${flag('port')}`

async function run(transport: Transport, signal: AbortSignal): Promise<{ readonly ended: Promise<void> }> {
  const ready = Promise.withResolvers<void>()
  const settings = {
    ...defaultValues(claims.config),
    apiAddr,
    namespace,
    templatePath: flag('template'),
    valuesPath: flag('values'),
    preProvisionClaimsCount: Number(flag('count')),
  }
  const ended = runOperators(
    {
      operators: [configure(claims, settings)],
      servers: [ownServers()],
      transport,
      metrics: await createMetrics(),
      onReady: () => ready.resolve(),
    },
    signal,
  )
  ended.catch((error: unknown) => ready.reject(error))
  await ready.promise
  return { ended }
}

async function whenFull(): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://${apiAddr}/claims`)
    const { pools } = (await answer.json()) as { readonly pools: readonly { readonly ready: number }[] }
    if (pools[0]?.ready === Number(flag('count'))) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const plane = await startControlPlane({ directory: flag('directory'), port: false })
const client = new Client({ transport: plane.transport, fieldManager: 'bench' })
const leader = new AbortController()
const led = await run(plane.transport, leader.signal)
await whenFull()
leader.abort()
await led.ended
await holdLease(client, namespace)
const end = new AbortController()
const { ended } = await run(plane.transport, end.signal)
await whenFull()
const servers = [
  await serveBareMembers(client, { namespace, port: Number(flag('bare-port')) }),
  await serveGuardedMembers(client, plane.transport, { namespace, port: Number(flag('guarded-port')) }),
]
const members = await BareMembers.create(client, { namespace, prefix: 'bare', count: Number(flag('count')) })
process.stdout.write('{}\n')
for await (const line of createInterface({ input: process.stdin })) {
  const [count = 0, concurrency = 0] = line.split(' ').map(Number)
  const ms = await members.handOutNext(count, concurrency)
  process.stdout.write(`${JSON.stringify({ ms })}\n`)
}
for (const server of servers) await server.close()
end.abort()
await ended
await plane.stop()
