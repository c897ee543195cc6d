import { readFileSync } from 'node:fs'
import path from 'node:path'
import { TenureError } from '@tenure/kube'
import { replaceFile } from '../durable-files.ts'

const FILE = 'host.json'

/** The facts that the host of a data directory publishes for other processes. */
export interface HostRecord {
  /** URL of the Kubernetes API: `https://127.0.0.1:6443`. */
  readonly url: string
  /** The file with the address and credentials for clients. */
  readonly kubeconfig: string
  readonly pid: number
  /** Start of hosting, RFC 3339. */
  readonly since: string
  /** Identity of the process in Leases; undefined if it runs no operators. */
  readonly identity?: string | undefined
  /** Identities of former hosts, newest first. Holding the directory proves that those processes have ended. */
  readonly ended?: readonly string[] | undefined
}

export interface HostNote extends HostRecord {
  /** `starting`: it holds the directory and does not serve yet. `stopped`: it shut down cleanly. */
  readonly state: 'starting' | 'serving' | 'stopped'
}

/** The note in `directory`; undefined if there is none or it is malformed. The lock decides who hosts, not the note. */
export function readNote(directory: string): HostNote | undefined {
  let note: Partial<Record<keyof HostNote, unknown>>
  try {
    note = JSON.parse(readFileSync(path.join(directory, FILE), 'utf8')) as typeof note
  } catch {
    return undefined
  }
  const { url, kubeconfig, pid, since, state, identity, ended } = note ?? {}
  if (typeof url !== 'string' || typeof kubeconfig !== 'string') return undefined
  if (typeof pid !== 'number' || typeof since !== 'string') return undefined
  if (state !== 'starting' && state !== 'serving' && state !== 'stopped') return undefined
  return {
    url,
    kubeconfig,
    pid,
    since,
    state,
    ...(typeof identity === 'string' && { identity }),
    ...(Array.isArray(ended) && { ended: ended.filter((each) => typeof each === 'string') }),
  }
}

/** Replaces the note atomically. Only the holder of the lock may call this. */
export function writeNote(directory: string, note: HostNote): void {
  const file = path.join(directory, FILE)
  try {
    replaceFile(file, `${JSON.stringify(note, undefined, 2)}\n`)
  } catch (cause) {
    throw new TenureError(
      'TENURE_HOST_UNUSABLE',
      `${file}, which tells other processes where the API is served, cannot be written: ${(cause as Error).message}. Check that the data directory is writable and has space.`,
      { cause },
    )
  }
}
