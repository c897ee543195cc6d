import { createInterface } from 'node:readline'
import type { Client, HttpTransport } from '@tenure/kube'
import { defineKind, mergePatch } from '@tenure/kube'
import { ConfigMap, connect, inParallel } from '../../programs/cluster.ts'
import { Stopwatch } from '../../programs/stopwatch.ts'
import type { Flags } from '../../programs/usage.ts'
import type { Phase } from '../generators.ts'

const Namespace = defineKind({ apiVersion: 'v1', kind: 'Namespace', namespaced: false })
const NAMESPACE = 'bench'
const WARM_UP = 200
/** Lists per client, one after the other. */
const LISTS = 20
const PAYLOAD = 'x'.repeat(1024)

interface Load {
  readonly client: Client
  readonly transport: HttpTransport
  /** Number of generator processes. */
  readonly parts: number
  /** The names that belong to this process. */
  readonly names: readonly string[]
  readonly clients: number
}

/** Reads one phase name per line, runs the phase and prints its figures. */
export async function generate(flag: Flags): Promise<undefined> {
  const { client, transport } = await connect(flag('kubeconfig'))
  const part = Number(flag('part'))
  const parts = Number(flag('parts'))
  const count = Number(flag('count')) / parts
  const clients = Number(flag('clients')) / parts
  const load = { client, transport, parts, names: named(`part-${part}`, count), clients }
  for await (const phase of createInterface({ input: process.stdin })) {
    const stopwatch = new Stopwatch()
    const bytes = await run(phase as Phase, load, part)
    const { wallMs, cpuMs } = stopwatch.perItem(1)
    process.stdout.write(`${JSON.stringify({ wallMs, cpuMs, bytes })}\n`)
  }
  await transport.close()
}

async function run(phase: Phase, load: Load, part: number): Promise<number> {
  if (phase === 'list') return list(load, LISTS)
  if (phase === 'prepare') await prepare(load, part)
  else await each(phase, load)
  return 0
}

/**
 * Creates the namespace and sends every kind of request a few times, so that code is compiled and connections are open
 * on both sides.
 */
async function prepare(load: Load, part: number): Promise<void> {
  await load.client.apply(Namespace, { metadata: { name: NAMESPACE } }, { force: true })
  const others = { ...load, names: named(`warm-up-${part}`, WARM_UP) }
  for (const phase of ['create', 'get', 'patch', 'apply', 'delete'] as const) await each(phase, others)
}

function each(phase: Exclude<Phase, 'prepare' | 'list'>, { client, names, clients }: Load): Promise<void> {
  const namespace = NAMESPACE
  const payload = PAYLOAD
  return inParallel(names.length, clients, (index): Promise<unknown> => {
    const name = names[index] ?? ''
    const ref = { namespace, name }
    switch (phase) {
      case 'create':
        return client.create(ConfigMap, { metadata: ref, data: { payload, turn: 'created' } })
      case 'get':
        return client.get(ConfigMap, ref)
      case 'patch':
        return client.patch(ConfigMap, ref, mergePatch({ data: { turn: 'patched' } }))
      case 'apply':
        return client.apply(ConfigMap, { metadata: ref, data: { payload, turn: 'applied' } }, { force: true })
      default:
        return client.delete(ConfigMap, ref)
    }
  })
}

/**
 * Lists all objects with every client. The bytes are counted but not parsed, which would take longer than sending them.
 */
async function list({ transport, clients }: Load, times: number): Promise<number> {
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`
  const headers = { accept: 'application/json' }
  let bytes = 0
  await inParallel(times * clients, clients, async () => {
    const { status, body } = await transport.request({ method: 'GET', path, headers })
    if (status !== 200) throw new Error(`A list returned ${status}`)
    for await (const chunk of body) bytes += chunk.length
  })
  return bytes
}

function named(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(5, '0')}`)
}
