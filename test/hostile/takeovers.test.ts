import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sleep, systemClock, systemRandom } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { type Received, send } from './processes.ts'

/** HOSTILE_TAKEOVERS and HOSTILE_SEED set how often the host is killed and how the run begins. */
const TAKEOVERS = Number(process.env['HOSTILE_TAKEOVERS'] ?? 2)
const SEED = Number(process.env['HOSTILE_SEED'] ?? Math.floor(systemRandom.fraction() * 1e9))
const PROCESSES = 3
const WRITERS = 3
const POLL = { timeout: 60_000, interval: 50 }
/** Pace of a writer whose server is gone. */
const RETRY_MS = 50
const ROOT = path.resolve(import.meta.dirname, '../..')
const MAPS = '/api/v1/namespaces/default/configmaps'
const APPLICATIONS = '/apis/cloudnative.elide.dev/v1/namespaces/default/applications'

/** One `npm start`. */
class Started {
  readonly child: ChildProcess
  output = ''

  constructor(directory: string, ...args: readonly string[]) {
    const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', 'start', '--data', directory, '--port', '0']
    this.child = spawn(process.execPath, [...command, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
  }

  get http(): string {
    return /^HTTP API +(\S+)/m.exec(this.output)?.[1] ?? 'http://127.0.0.1:1'
  }

  async whenReady(): Promise<void> {
    await vi.waitFor(() => {
      if (!/^Ready /m.test(this.output)) throw new Error(`Not ready:\n${this.output}`)
    }, POLL)
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exit = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await exit
  }
}

interface Written {
  readonly value: string
  readonly filler: string
  readonly copy: string
}

const started = new Set<Started>()

afterEach(async () => {
  for (const each of started) await each.kill()
})

/** Objects of many sizes. */
const fillerLength = (value: number): number => (value * 997) % 20_000

interface Certificate {
  readonly cert: string
  readonly key: string
}

const decode = (text: string): string => Buffer.from(text, 'base64').toString()

/** The address of the API server and the administrator's certificate. */
function readKubeconfig(file: string): { readonly api: string; readonly certificate: Certificate } {
  const { clusters, users } = JSON.parse(readFileSync(file, 'utf8')) as {
    clusters: [{ cluster: { server: string } }]
    users: [{ user: Record<'client-certificate-data' | 'client-key-data', string> }]
  }
  const { 'client-certificate-data': cert, 'client-key-data': key } = users[0].user
  return { api: clusters[0].cluster.server, certificate: { cert: decode(cert), key: decode(key) } }
}

/** Where and how a writer writes. */
interface Place {
  readonly collection: () => string
  readonly certificate: Certificate | undefined
  readonly wrap: (name: string, data: Written) => object
}

/** One writer writes rising numbers to one object, and remembers which of them were acknowledged. */
class Writer {
  readonly name: string
  readonly #place: Place
  attempted = 0
  acknowledged = 0
  readonly unexpected: string[] = []
  /** The last response, for messages. */
  last = ''

  constructor(name: string, place: Place) {
    this.name = name
    this.#place = place
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const value = String(++this.attempted)
      const { status, text } = await this.#write({
        value,
        filler: 'x'.repeat(fillerLength(this.attempted)),
        copy: value,
      })
      this.last = `${status} ${text.slice(0, 300)}`
      if (status === 200 || status === 201) this.acknowledged = this.attempted
      // A lost connection, and a server that has no host at the moment.
      else if (status === 0 || status === 503 || status === 504 || status === 429) await sleep(systemClock, RETRY_MS)
      else this.unexpected.push(`${this.name}: ${this.last}`)
    }
  }

  async #write(data: Written): Promise<Received> {
    const { collection, certificate, wrap } = this.#place
    const sent = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(wrap(this.name, data)),
      ...(certificate && { certificate }),
    }
    const put = await send({ method: 'PUT', url: `${collection()}/${this.name}`, ...sent })
    return put.status === 404 ? send({ method: 'POST', url: collection(), ...sent }) : put
  }

  /** Compares a stored object with the numbers that were acknowledged before it was read. */
  problems(acknowledged: number, found: Written | undefined): readonly string[] {
    if (!found) return acknowledged === 0 ? [] : [`${this.name} is lost`]
    const { value, copy, filler } = found
    const isKept = Number(value) >= acknowledged && Number(value) <= this.attempted
    const isWhole = copy === value && filler.length === fillerLength(Number(value))
    return isKept && isWhole ? [] : [`${this.name}: ${value} and ${copy} after ${acknowledged} of ${this.attempted}`]
  }
}

interface Listed<T> {
  readonly items: readonly (T & { readonly metadata: { readonly name: string; readonly generation?: number } })[]
}

test(
  `acknowledged writes through three processes survive ${TAKEOVERS} takeovers of the seed ${SEED}, each with one host and one leader`,
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'tenure-takeovers-'))
    const random = seededRandom(SEED)
    const start = (...args: readonly string[]): Started => {
      const process = new Started(directory, ...args)
      started.add(process)
      return process
    }
    const hostPid = (): number =>
      (JSON.parse(readFileSync(path.join(directory, 'host.json'), 'utf8')) as { pid: number; state: string }).pid
    const slots = [start('--kubernetes-port', '0')]
    await slots[0]?.whenReady()
    for (let slot = 1; slot < PROCESSES; slot++) slots.push(start())
    await Promise.all(slots.map((each) => each.whenReady()))
    const { api, certificate } = readKubeconfig(path.join(directory, 'kubeconfig'))

    const ofMaps = Array.from(
      { length: WRITERS },
      (_, index) =>
        new Writer(`map-${index}`, {
          collection: () => `${api}${MAPS}`,
          certificate,
          wrap: (name, data) => ({ metadata: { name }, data }),
        }),
    )
    const ofApplications = slots.map(
      (_, slot) =>
        new Writer(`application-${slot}`, {
          collection: () => `${slots[slot]?.http}${APPLICATIONS}`,
          certificate: undefined,
          wrap: (name, config) => ({ metadata: { name }, spec: { image: 'nginx', replicas: 0, config } }),
        }),
    )
    const writers = [...ofMaps, ...ofApplications]
    /** The writers whose server runs. */
    const active = (): readonly Writer[] => [
      ...ofMaps,
      ...ofApplications.filter((_, slot) => slots.some((each, index) => index === slot && started.has(each))),
    ]
    const list = async <T>(collection: string): Promise<Listed<T>> => {
      const { status, text } = await send({ method: 'GET', url: `${api}${collection}`, certificate })
      expect(status).toBe(200)
      return JSON.parse(text) as Listed<T>
    }
    const verify = async (): Promise<void> => {
      const before = new Map(writers.map((writer) => [writer, writer.acknowledged]))
      const maps = await list<{ data: Written }>(MAPS)
      const applications = await list<{ spec: { config: Written } }>(APPLICATIONS)
      const found = new Map([
        ...maps.items.map(({ metadata: { name }, data }) => [name, data] as const),
        ...applications.items.map(({ metadata: { name }, spec }) => [name, spec.config] as const),
      ])
      expect([...before].flatMap(([writer, number]) => writer.problems(number, found.get(writer.name)))).toEqual([])
      expect(writers.flatMap(({ unexpected }) => unexpected)).toEqual([])
    }
    /** Resolves when every one of these writers has written more. */
    const whenWritten = async (some: readonly Writer[], more: number): Promise<void> => {
      const goals = some.map((writer) => ({ writer, goal: writer.acknowledged + more }))
      await vi.waitFor(() => {
        const late = goals.filter(({ writer, goal }) => writer.acknowledged < goal)
        const why = late.map(({ writer }) => `${writer.name} ${writer.last}`)
        if (late.length > 0) throw new Error(`No progress: ${why.join(', ')}`)
      }, POLL)
    }

    const stop = new AbortController()
    const writing = Promise.all(writers.map((writer) => writer.run(stop.signal)))
    for (let takeover = 0; takeover < TAKEOVERS; takeover++) {
      await whenWritten(active(), 5 + Math.floor(random.fraction() * 30))
      const former = hostPid()
      const slot = slots.findIndex(({ child }) => child.pid === former)
      const killed = slots[slot]
      if (!killed) throw new Error(`No process has the pid of the host, ${former}`)
      // Requests of all writers are in flight at this moment.
      await killed.kill()
      started.delete(killed)
      const survivors = slots.filter((each) => started.has(each))
      await whenWritten(active(), 3)
      await verify()

      const host = survivors.filter(({ child }) => child.pid === hostPid())
      expect(host).toHaveLength(1)
      expect(
        survivors.map(({ output }) => output.includes(`The host (pid ${former}) is gone`)).filter(Boolean),
      ).toHaveLength(1)
      await vi.waitFor(async () => {
        const standings = await Promise.all(
          survivors.map(async ({ http }) => {
            const { text } = await send({ method: 'GET', url: `${http}/leader` })
            return JSON.parse(text) as { isLeader: boolean; self: string; identity: string }
          }),
        )
        const leaders = standings.filter(({ isLeader }) => isLeader)
        expect(leaders).toHaveLength(1)
        expect(new Set(standings.map(({ identity }) => identity))).toEqual(new Set([leaders[0]?.self]))
      }, POLL)

      const isLast = takeover === TAKEOVERS - 1
      if (survivors.length > 1 || isLast) continue
      for (const [index, each] of slots.entries()) if (!started.has(each)) slots[index] = start()
      await Promise.all(slots.map((each) => each.whenReady()))
    }
    await whenWritten(active(), 3)
    stop.abort()
    await writing
    await verify()
    // The leader still does its work.
    await vi.waitFor(async () => {
      const { items } = await list<{ status?: { observedGeneration?: number } }>(APPLICATIONS)
      expect(items.map(({ status }) => status?.observedGeneration)).toEqual(
        items.map(({ metadata }) => metadata.generation),
      )
    }, POLL)
    for (const each of started) await each.kill()
    await rm(directory, { recursive: true, force: true })
  },
  120_000 + TAKEOVERS * 60_000,
)
