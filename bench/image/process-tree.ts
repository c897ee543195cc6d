import { readdirSync, readFileSync } from 'node:fs'

/** Returns the process and all that it has started, directly or not. */
export function processTree(pid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = textOf(`/proc/${name}/status`)
    parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0))
  }
  const tree = [pid]
  for (const each of tree) for (const [child, parent] of parents) if (parent === each) tree.push(child)
  return tree
}

/** A tick of /proc in milliseconds. */
const TICK_MS = 10

/**
 * Returns the CPU time of the processes so far in milliseconds. It includes that of their children that have ended, so the
 * difference of two moments is right although PostgreSQL starts and ends processes.
 */
export function treeCpuMs(pid: number): number {
  return processTree(pid).reduce((sum, each) => {
    const stat = textOf(`/proc/${each}/stat`)
    // The name, in parentheses, may contain spaces; the four times are the 12th to 15th field after it.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
    return sum + fields.reduce((ticks, field) => ticks + Number(field), 0) * TICK_MS
  }, 0)
}

/**
 * Returns the memory of processes together in MB: their private pages, and of each mapping that several share, the largest
 * part that one of them has. A sum of RSS would count Node's executable and PostgreSQL's buffers once per process; a sum
 * of PSS leaves out what is shared with processes of others.
 */
export function memoryMb(pids: readonly number[]): number {
  let privateKb = 0
  const shared = new Map<string, number>()
  for (const pid of pids) {
    for (const { key, sharedKb, ownKb } of mappings(pid)) {
      privateKb += ownKb
      shared.set(key, Math.max(shared.get(key) ?? 0, sharedKb))
    }
  }
  return (privateKb + [...shared.values()].reduce((sum, kb) => sum + kb, 0)) / 1024
}

interface Mapping {
  /** The same for the same memory of several processes. */
  readonly key: string
  readonly sharedKb: number
  readonly ownKb: number
}

const HEADER = /^([0-9a-f]+-[0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ *(.*)$/

function mappings(pid: number): readonly Mapping[] {
  const found: { key: string; sharedKb: number; ownKb: number }[] = []
  for (const line of textOf(`/proc/${pid}/smaps`).split('\n')) {
    const [, range, offset, file = ''] = HEADER.exec(line) ?? []
    if (range !== undefined) {
      // Processes of one program share memory without a file at the same address, since they are forks of one.
      found.push({ key: file.startsWith('/') ? `${file} ${offset}` : `${file} ${range}`, sharedKb: 0, ownKb: 0 })
    }
    const last = found.at(-1)
    const [, kind, kb] = /^(Shared|Private)_(?:Clean|Dirty): +(\d+) kB$/.exec(line) ?? []
    if (last && kind === 'Shared') last.sharedKb += Number(kb)
    if (last && kind === 'Private') last.ownKb += Number(kb)
  }
  return found
}

/** Empty if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
