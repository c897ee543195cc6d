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

export interface ControllerProcess {
  readonly runner: ControllerRunner
  readonly client: Client
  stop(grace?: number): Promise<void>
  /** Ends the process as a kill would: nothing is finished or reported. */
  kill(): void
}

/** An in-memory API server, a virtual clock, and processes that run controllers. */
export class ControllerFixture {
  readonly clock = new VirtualClock()
  readonly server = new MemoryApi({ clock: this.clock })
  readonly events: EventContent[] = []
  readonly lines: LogLine[] = []
  readonly #processes = new Set<ControllerProcess>()

  async start(
    definition: ControllerDefinition,
    options: Partial<ControllerRunnerOptions> = {},
  ): Promise<ControllerProcess> {
    const { clock, server } = this
    const random = seededRandom(7)
    const shared = { clock, random, log: this.#logger({}), metrics: noMetrics }
    // A killed process no longer reaches the server, although its promises still run here.
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
    const process: ControllerProcess = {
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

  /** Advances time in small steps until `condition` holds. */
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

  /** Waits until there are no requests and no work for a while. */
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

  /** All requests except lists and watches. */
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

  /** Plays the garbage collector, which the in-memory server lacks: deletes the children of deleted objects. */
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
      child: (more) => this.#logger({ ...facts, ...(typeof more === 'function' ? more() : more) }),
    }
  }
}

function nameOf({ verb, plural, name, subresource }: RecordedRequest): string {
  return `${verb} ${plural}/${name}${subresource && `/${subresource}`}`
}
