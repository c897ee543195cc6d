import { systemClock } from '@tenure/kube'
import { silentLogger } from '@tenure/runtime'
import { openStorage } from '../../../packages/controlplane/src/storage/index.ts'
import { inParallel } from '../../programs/cluster.ts'
import type { Flags } from '../../programs/usage.ts'

const CONFIG_MAPS = 'configmaps'
const PAYLOAD = 'x'.repeat(1024)

const opened = (directory: string) => openStorage({ directory, clock: systemClock, log: silentLogger })

/** Stores ConfigMaps of 1 KB in a directory. */
export async function fill(flag: Flags): Promise<object> {
  const storage = await opened(flag('directory'))
  const count = Number(flag('count'))
  const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '')
  await inParallel(count, 1000, (index) => {
    const name = `stored-${String(index).padStart(6, '0')}`
    const metadata = { name, namespace: 'default', uid: crypto.randomUUID(), creationTimestamp }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { payload: PAYLOAD } }
    return storage.write(CONFIG_MAPS, `default/${name}`, () => ({ put: object }))
  })
  await storage.close()
  return { count }
}

/** Loads the stored ConfigMaps. */
export async function open(flag: Flags): Promise<object> {
  const began = performance.now()
  const storage = await opened(flag('directory'))
  const wallMs = performance.now() - began
  const count = storage.count(CONFIG_MAPS)
  await storage.close()
  return { wallMs, count }
}
