import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** The folder of the data directory with a file for each process that serves from it. */
const FOLDER = 'instances'

/** The addresses of a running `tenure start`. */
export interface Instance {
  readonly pid: number
  /** URL of the HTTP API and the dashboard. */
  readonly http: string
  /** URL of the claims API. */
  readonly claims: string
}

/** Publishes the addresses of this process for commands on this machine. Returns a function that withdraws them. */
export async function publishInstance(directory: string, instance: Instance): Promise<() => Promise<void>> {
  const folder = path.join(directory, FOLDER)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const { file, pid } of await entries(folder)) if (!isAlive(pid)) await rm(file, { force: true })
  const file = path.join(folder, `${instance.pid}.json`)
  // Renamed into place: a reader never sees half a file.
  await writeFile(`${file}.new`, `${JSON.stringify(instance)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return () => rm(file, { force: true })
}

/** A process that runs on the data directory; the one that started first if there are several. */
export async function findInstance(directory: string): Promise<Instance | undefined> {
  for (const { file, pid } of await entries(path.join(directory, FOLDER))) {
    // The file of a killed process stays until the next start.
    if (!isAlive(pid)) continue
    const instance = parse(await readFile(file, 'utf8').catch(() => ''))
    if (instance?.pid === pid) return instance
  }
  return undefined
}

async function entries(folder: string): Promise<readonly { readonly file: string; readonly pid: number }[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => ({ file: path.join(folder, name), pid: Number.parseInt(name, 10) }))
    .toSorted((a, b) => a.pid - b.pid)
}

function parse(text: string): Instance | undefined {
  try {
    const { pid, http, claims } = JSON.parse(text) as Partial<Record<keyof Instance, unknown>>
    if (typeof pid !== 'number' || typeof http !== 'string' || typeof claims !== 'string') return undefined
    return { pid, http, claims }
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
