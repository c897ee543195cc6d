import { execFile } from 'node:child_process'
import { readFile, readlink, realpath, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Clock, sleep } from '@tenure/kube'

const FAST_STOP_MS = 10_000
const IMMEDIATE_STOP_MS = 5_000
const CHECK_INTERVAL_MS = 10

/** The file that a running server keeps in its data directory; a killed server leaves it behind. */
export interface Postmaster {
  readonly pid: number
  /** Tells this run of the server from others, also if the process id is used again. */
  readonly run: string
  readonly isReady: boolean
}

export async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFile(data), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, run: lines.slice(0, 3).join(' '), isReady: lines[7]?.trim() === 'ready' }
}

/**
 * Stops the server of an earlier process on this data directory. A file whose process id belongs to another program now
 * is removed, because PostgreSQL would refuse to start; that of a dead process stays, for PostgreSQL to check for
 * backends that are still alive.
 */
export async function stopOrphan(data: string, clock: Clock): Promise<Postmaster | undefined> {
  const found = await readPostmaster(data)
  if (found === undefined || !isAlive(found.pid)) return found
  if (!(await isServerOf(found.pid, data))) {
    await rm(pidFile(data), { force: true })
    return undefined
  }
  signalProcess(found.pid, 'SIGINT')
  if (await isGone(found.pid, FAST_STOP_MS, clock)) return readPostmaster(data)
  signalProcess(found.pid, 'SIGQUIT')
  if (!(await isGone(found.pid, IMMEDIATE_STOP_MS, clock))) signalProcess(found.pid, 'SIGKILL')
  await isGone(found.pid, IMMEDIATE_STOP_MS, clock)
  return readPostmaster(data)
}

/** Does nothing if the process is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // ESRCH
  }
}

const pidFile = (data: string): string => path.join(data, 'postmaster.pid')

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function isGone(pid: number, limit: number, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + limit
  while (isAlive(pid)) {
    if (clock.monotonic() > deadline) return false
    await sleep(clock, CHECK_INTERVAL_MS)
  }
  return true
}

/** A server works in its data directory; where the system does not show that, its command line names it. */
async function isServerOf(pid: number, data: string): Promise<boolean> {
  const folder = await realpath(data)
  if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === folder
  if (process.platform === 'win32') return true
  const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'command=']).catch(() => ({
    stdout: '',
  }))
  return stdout.includes(data) || stdout.includes(folder)
}
