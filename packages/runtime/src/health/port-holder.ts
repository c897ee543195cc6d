import { readdir, readFile, readlink } from 'node:fs/promises'

export interface PortHolder {
  readonly pid: number
  /** The program and the start of its arguments. */
  readonly command: string
}

/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'
const MAX_COMMAND_LENGTH = 120

/**
 * The process that listens on a TCP port of this machine, from /proc on Linux. Undefined on other systems, and for
 * processes that this user cannot inspect.
 */
export async function portHolder(port: number): Promise<PortHolder | undefined> {
  try {
    const tables = await Promise.all(
      ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
    )
    const sockets = new Set(tables.flatMap((table) => listeningSockets(table, port)))
    return sockets.size > 0 ? await ownerOf(sockets) : undefined
  } catch {
    // The holder is only extra information for another error.
    return undefined
  }
}

/** The inodes of the sockets that listen on `port`, as links in /proc name them. */
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
  return words.length > MAX_COMMAND_LENGTH ? `${words.slice(0, MAX_COMMAND_LENGTH)}…` : words || 'unknown'
}
