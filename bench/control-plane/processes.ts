import { readFileSync } from 'node:fs'

/** Ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const TICK_MS = 10

/** User and system time that the processes have taken so far, all their threads, in milliseconds. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in brackets, may hold spaces; user and system time are the 12th and 13th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS
  }, 0)
}

/** What the processes hold in memory together, in MB. */
export function rssMb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
  }, 0)
}
