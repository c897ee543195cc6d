import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * One process and no other. A pid alone is not enough: after its process has ended the system hands it to the next
 * one, and killing by a remembered pid then kills a stranger. Together with the start time it is unique.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** When the process began, in the system's own notation; only ever compared for equality. */
  readonly started: string
}

/** The identity of a running process, or undefined if there is none. A zombie has ended: it does not count. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedElsewhere(pid)
  return started === undefined ? undefined : { pid, started }
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started
}

/** Signals exactly this process. Answers whether it was there to be signalled. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, name)
  } catch {
    // It ended between the look and the signal.
    return false
  }
}

let bootId: string | undefined

function startedOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in brackets and may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    if (state === 'Z' || state === 'X') return undefined
    // Start times count from the boot, so without the boot's id one from before a restart could match.
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
