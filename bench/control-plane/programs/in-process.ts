import { startControlPlane } from '@tenure/controlplane'
import { Client } from '@tenure/kube'
import { ConfigMap } from '../../programs/cluster.ts'
import type { Flags } from '../../programs/usage.ts'

const WARM_UP = 2000

const ref = (index: number) => ({ namespace: 'default', name: `in-process-${index % 100}` })

/** Sends one request after the other through a Client and the in-process transport, without a disk, as a test does. */
export async function inProcess(flag: Flags): Promise<object> {
  const count = Number(flag('count'))
  const plane = await startControlPlane({ port: false })
  const client = new Client({ transport: plane.transport, fieldManager: 'bench' })
  const payload = 'x'.repeat(1024)
  const apply = (index: number): Promise<unknown> =>
    client.apply(ConfigMap, { metadata: ref(index), data: { payload, turn: String(index) } }, { force: true })
  const get = (index: number): Promise<unknown> => client.get(ConfigMap, ref(index))
  await microseconds(WARM_UP, apply)
  const applyUs = await microseconds(count, (index) => apply(WARM_UP + index))
  await microseconds(WARM_UP, get)
  const getUs = await microseconds(count, get)
  await plane.stop()
  return { applyUs, getUs }
}

async function microseconds(count: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const began = performance.now()
  for (let index = 0; index < count; index++) await work(index)
  return ((performance.now() - began) * 1000) / count
}
