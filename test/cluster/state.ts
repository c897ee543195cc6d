/** The state file of a cluster, by which another process can find and stop it. */
import { existsSync } from 'node:fs'
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { type RunningProgram, end } from './launcher.ts'
import { isAlive } from './process-identity.ts'

export interface ClusterState {
  readonly server: string
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string
  readonly durable: boolean
  /** True if every program has started and the node is ready. */
  readonly complete: boolean
  readonly programs: readonly RunningProgram[]
}

const FILE = 'cluster.json'

export async function writeState(directory: string, state: ClusterState): Promise<void> {
  const file = path.join(directory, FILE)
  await writeFile(`${file}.new`, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** Reads the state of the cluster in this folder; undefined if there is none. */
export async function readState(directory: string): Promise<ClusterState | undefined> {
  const file = path.join(directory, FILE)
  if (!existsSync(file)) return undefined
  return JSON.parse(await readFile(file, 'utf8')) as ClusterState
}

export function isRunning(state: ClusterState): boolean {
  return state.complete && state.programs.every(({ identity }) => isAlive(identity))
}

/**
 * Stops the recorded processes of the cluster in this folder, deletes the folder, and returns the names of the
 * processes.
 */
export async function endRecorded(directory: string): Promise<readonly string[]> {
  const state = await readState(directory)
  if (!state) return []
  const alive = state.programs.filter(({ identity }) => isAlive(identity))
  // Killed: their data is deleted with the folder, and the API server's clean shutdown takes long.
  await Promise.all(alive.map(({ identity }) => end(identity, 'SIGKILL')))
  await removeFolder(directory)
  return alive.map(({ name }) => name)
}

/** Only for folders that a cluster created: deletes everything in them. */
export function removeFolder(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** Rejects a folder that is not empty, because stopping a cluster deletes the whole folder. */
export async function assertEmpty(directory: string): Promise<void> {
  if (!existsSync(directory) || (await readdir(directory)).length === 0) return
  throw new TenureError(
    'TENURE_CLUSTER_DIRECTORY',
    `${directory} is not empty. A cluster needs its own folder, which is deleted with it: choose another one, or ` +
      'stop the cluster in it.',
  )
}
