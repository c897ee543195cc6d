/** What a cluster's folder says about the cluster, so that another process can find it and end it. */
import { existsSync } from 'node:fs'
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { type RunningProgram, end } from './launcher.ts'
import { isAlive } from './process-identity.ts'

export interface ClusterState {
  readonly server: string
  /** The admin's. */
  readonly kubeconfig: string
  readonly durable: boolean
  /** Whether every program had started and the node was ready. */
  readonly complete: boolean
  readonly programs: readonly RunningProgram[]
}

const FILE = 'cluster.json'

export async function writeState(directory: string, state: ClusterState): Promise<void> {
  const file = path.join(directory, FILE)
  await writeFile(`${file}.new`, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** The state of the cluster in this folder, or undefined if there is none. */
export async function readState(directory: string): Promise<ClusterState | undefined> {
  const file = path.join(directory, FILE)
  if (!existsSync(file)) return undefined
  return JSON.parse(await readFile(file, 'utf8')) as ClusterState
}

export function isRunning(state: ClusterState): boolean {
  return state.complete && state.programs.every(({ identity }) => isAlive(identity))
}

/** Ends what runs of the cluster in this folder, and removes the folder. Answers the names of what it ended. */
export async function endRecorded(directory: string): Promise<readonly string[]> {
  const state = await readState(directory)
  if (!state) return []
  const alive = state.programs.filter(({ identity }) => isAlive(identity))
  // Killed: they hold nothing that outlives the folder, and the API server alone would take its time to part.
  await Promise.all(alive.map(({ identity }) => end(identity, 'SIGKILL')))
  await removeFolder(directory)
  return alive.map(({ name }) => name)
}

/** Only for folders that a cluster made: everything in them goes. */
export function removeFolder(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** Refuses a folder that holds anything, because a cluster's end removes the whole folder. */
export async function assertEmpty(directory: string): Promise<void> {
  if (!existsSync(directory) || (await readdir(directory)).length === 0) return
  throw new TenureError(
    'TENURE_CLUSTER_DIRECTORY',
    `${directory} is not empty. A cluster needs a folder of its own, which is removed with it: name another one, or ` +
      'end the cluster that is in it.',
  )
}
