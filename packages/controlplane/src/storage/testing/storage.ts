import { mkdtemp, rm } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock, type KubeObject } from '@tenure/kube'
import { silentLogger } from '@tenure/runtime'
import { onTestFinished } from 'vitest'
import { openStorage, type OpenStorageOptions } from '../open.ts'
import type { Change, WriteDecision, Storage } from '../types.ts'

// Every storage on disk starts a thread; the compile cache saves stripping types in all but the first.
enableCompileCache()

export const CONFIG_MAPS = 'configmaps'

export function configMap(key: string, value: string): KubeObject & { readonly data: { readonly value: string } } {
  const [namespace = '', name = ''] = key.split('/')
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, uid: `uid of ${key}` }, data: { value } }
}

export const put = (key: string, value: string) => (): WriteDecision<undefined> => ({ put: configMap(key, value) })
export const remove = (): WriteDecision<undefined> => ({ remove: true })

/** Writes `value` under `key` and returns the revision. */
export async function write(storage: Storage, key: string, value: string): Promise<number> {
  return (await storage.write(CONFIG_MAPS, key, put(key, value))).stored.revision
}

export async function removeKey(storage: Storage, key: string): Promise<number> {
  return (await storage.write(CONFIG_MAPS, key, remove)).stored.revision
}

/** A change as one line: `4 default/a x → y`, with the resourceVersion in the object. */
export function line({ revision, key, previous, current, deleted }: Change): string {
  const before = previous ? valueOf(previous.object) : 'nothing'
  const after = current ?? deleted
  const what = current ? valueOf(current.object) : 'deleted'
  return `${revision} ${key} ${before} → ${what} @${after?.object.metadata.resourceVersion}`
}

export function valueOf(object: KubeObject): string {
  return (object as KubeObject & { readonly data: { readonly value: string } }).data.value
}

/** The objects, as `key=value@resourceVersion`. */
export function contents(storage: Storage, options?: Parameters<Storage['range']>[1]): readonly string[] {
  return Array.from(
    storage.range(CONFIG_MAPS, options),
    ({ key, object }) => `${key}=${valueOf(object)}@${object.metadata.resourceVersion}`,
  )
}

/** A directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-storage-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Opens a storage that is closed when the test ends. */
export async function open(options: Partial<OpenStorageOptions> = {}): Promise<Storage> {
  const storage = await openStorage({ clock: systemClock, log: silentLogger, ...options })
  onTestFinished(() => storage.close())
  return storage
}

/** The error that `promise` rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('it was not rejected')
}
