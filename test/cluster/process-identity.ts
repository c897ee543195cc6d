import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Identifies exactly one process. A pid alone is not enough, because the system reuses it; together with the start time
 * it is unique.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** The start time in the system's notation; only compared for equality. */
  readonly started: string
}

/** Returns the identity of a running process, or undefined. A zombie does not count as running. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedElsewhere(pid)
  return started === undefined ? undefined : { pid, started }
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started
}

/** Signals exactly this process. Returns false if it no longer runs. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, name)
  } catch {
    // It exited between the check and the signal.
    return false
  }
}

let bootId: string | undefined

function startedOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses, which may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    if (state === 'Z' || state === 'X') return undefined
    // Start times count from boot, so a start time from before a reboot could match without the boot id.
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${bootId}/${fields[19]}`
  } catch {
    return undefined
  }
}

function startedElsewhere(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    const [state, ...started] = line.split(/\s+/)
    return line === '' || state?.startsWith('Z') ? undefined : started.join(' ')
  } catch {
    return undefined
  }
}
