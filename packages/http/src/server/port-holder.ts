import { readdir, readFile, readlink } from 'node:fs/promises'

export interface PortHolder {
  readonly pid: number
  /** The program and the beginning of its arguments. */
  readonly command: string
}

const LISTENING = '0A'
const LONGEST_COMMAND = 120

/**
 * Which process listens on a TCP port of this machine. Linux tells it under /proc, for processes that we may look at;
 * anywhere else, and for others' processes, nobody knows: undefined.
 */
export async function portHolder(port: number): Promise<PortHolder | undefined> {
  try {
    const tables = await Promise.all(
      ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
    )
    const sockets = new Set(tables.flatMap((table) => listeningSockets(table, port)))
    return sockets.size > 0 ? await ownerOf(sockets) : undefined
  } catch {
    // It is a courtesy: that it fails must not hide why it was asked for.
    return undefined
  }
}

/** The inodes, as links in /proc name them, of the sockets that listen on `port`. */
export function listeningSockets(table: string, port: number): readonly string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === LISTENING && local.endsWith(`:${wanted}`))
    .map((columns) => `socket:[${columns[9]}]`)
}

async function ownerOf(sockets: ReadonlySet<string>): Promise<PortHolder | undefined> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const descriptors = await readdir(`/proc/${entry}/fd`).catch(() => [])
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${entry}/fd/${descriptor}`).catch(() => '')
      if (sockets.has(target)) return { pid: Number(entry), command: await commandOf(entry) }
    }
  }
  return undefined
}

async function commandOf(pid: string): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const words = line.split('\0').join(' ').trim()
  return words.length > LONGEST_COMMAND ? `${words.slice(0, LONGEST_COMMAND)}…` : words || 'unknown'
}
