import { Client, type Kind, type KubeObject } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import type { EventContent } from '../actions/index.ts'
import { SharedInformers } from '../informer/shared-informers.ts'
import type { Facts, Logger } from '../log/logger.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import type { RecordedRequest } from '../testing/recorded-request.ts'
import type { ControllerDefinition } from './definition.ts'
import { ControllerRunner, type ControllerRunnerOptions } from './runner.ts'

export interface LogLine extends Facts {
  readonly level: string
  readonly message: string
}

export interface Process {
  readonly runner: ControllerRunner
  readonly client: Client
  stop(grace?: number): Promise<void>
  /** Ends it as a kill would: nothing is finished, nothing is told. */
  kill(): void
}

/** A server in memory, a virtual clock, and processes that run controllers against it. */
export class World {
  readonly clock = new VirtualClock()
  readonly server = new MemoryApi({ clock: this.clock })
  readonly events: EventContent[] = []
  readonly lines: LogLine[] = []
  readonly #processes = new Set<Process>()

  async start(definition: ControllerDefinition, options: Partial<ControllerRunnerOptions> = {}): Promise<Process> {
    const { clock, server } = this
    const random = seededRandom(7)
    const shared = { clock, random, log: this.#logger({}), metrics: noMetrics }
    // A process that was killed no longer reaches the server, though its promises live on here.
    let isDead = false
    const transport = {
      request: (request: Parameters<MemoryApi['request']>[0]) =>
        isDead ? new Promise<never>(() => undefined) : server.request(request),
      close: () => Promise.resolve(),
    }
    const client = new Client({ transport, clock, random, retry: { attempts: 1 } })
    const informers = new SharedInformers({ ...shared, api: client, keepManagedFieldsOf: ['test'], freeze: true })
    const end = new AbortController()
    const runner = new ControllerRunner(definition, {
      ...shared,
      api: client,
      informers,
      fieldManager: 'test',
      recorder: { record: (_object, event) => void this.events.push(event) },
      ...options,
    })
    informers.start(end.signal)
    const process: Process = {
      runner,
      client,
      stop: async (grace) => {
        await runner.stop(grace === undefined ? {} : { grace })
        end.abort()
        await informers.whenStopped()
        this.#processes.delete(process)
      },
      kill: () => {
        isDead = true
        end.abort()
        void runner.stop({ grace: 0 })
        this.#processes.delete(process)
      },
    }
    this.#processes.add(process)
    await runner.start()
    return process
  }

  /** Lets time pass, a little at a time, until `condition` holds. */
  async until(condition: () => boolean, what = 'the condition'): Promise<void> {
    for (let turn = 0; turn < 3000; turn++) {
      if (condition()) return
      await this.clock.advance(2)
    }
    const said = this.lines
      .map((line) => `${JSON.stringify(line)} ${line['error'] instanceof Error ? (line['error'].stack ?? '') : ''}`)
      .join('\n')
    throw new Error(
      `${what} was not met within 6 s of virtual time. Written: ${this.writes.join(', ')}. Logged:\n${said}`,
    )
  }

  /** Waits until nothing has happened for a while: no request, no work. */
  async settle(): Promise<void> {
    let quiet = 0
    let seen = -1
    await this.until(() => {
      const isIdle = [...this.#processes].every(({ runner }) => runner.isIdle)
      quiet = isIdle && seen === this.server.requests.length ? quiet + 1 : 0
      seen = this.server.requests.length
      return quiet > 20
    }, 'quiet')
  }

  /** The requests that changed something: `apply deployments/web`. */
  get writes(): readonly string[] {
    return this.server.requests.filter((request) => !['get', 'list', 'watch'].includes(request.verb)).map(nameOf)
  }

  /** All but lists and watches. */
  get calls(): readonly string[] {
    return this.server.requests.filter((request) => !['list', 'watch'].includes(request.verb)).map(nameOf)
  }

  linesAt(level: string): readonly LogLine[] {
    return this.lines.filter((line) => line.level === level)
  }

  async end(): Promise<void> {
    for (const process of this.#processes) {
      const stopped = process.stop(0)
      await this.clock.advance(6_000)
      await stopped
    }
  }

  /** What the garbage collector does, which the server in memory has not: children of what is gone go. */
  collectGarbage(...kinds: readonly Kind[]): void {
    const uids = new Set(kinds.flatMap((kind) => this.server.objects(kind).map(({ metadata }) => metadata.uid)))
    for (const kind of kinds) {
      for (const { metadata } of this.server.objects<KubeObject>(kind)) {
        const owners = metadata.ownerReferences ?? []
        if (owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))) this.server.unseed(kind, metadata)
      }
    }
  }

  #logger(facts: Facts): Logger {
    const at = (level: string) => (message: string, more?: Facts) =>
      void this.lines.push({ level, message, ...facts, ...more })
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (more) => this.#logger({ ...facts, ...more }),
    }
  }
}

function nameOf({ verb, plural, name, subresource }: RecordedRequest): string {
  return `${verb} ${plural}/${name}${subresource && `/${subresource}`}`
}
