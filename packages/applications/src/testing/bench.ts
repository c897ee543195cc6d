import { Client, type Stored } from '@tenure/kube'
import { Deployment, Event, Pod } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { type Logger, manager } from '@tenure/runtime'
import { MemoryApi, silentLogger } from '@tenure/runtime/testing'
import { Application, type ApplicationSpec, OPERATOR } from '../api/index.ts'
import { applicationsController } from '../controllers/application/controller.ts'

/** A server in memory without controllers of its own, and the operator on it, in virtual time. */
export class Bench {
  readonly clock = new VirtualClock()
  readonly server = new MemoryApi({ clock: this.clock, bookmarkEvery: 0 })
  readonly api = new Client({ transport: this.server, clock: this.clock, random: seededRandom(1) })
  /** What the operator found worth a warning or more. */
  readonly warnings: string[] = []
  readonly #log: Logger = {
    ...silentLogger,
    warn: (message) => void this.warnings.push(message),
    error: (message) => void this.warnings.push(message),
    child: () => this.#log,
  }
  #stop: (() => Promise<void>) | undefined

  async start(): Promise<void> {
    const { clock, server } = this
    const end = new AbortController()
    const subject = manager({
      name: OPERATOR,
      controllers: [applicationsController()],
      transport: server,
      clock,
      random: seededRandom(2),
      log: this.#log,
      freeze: true,
    })
    let isEnded = false
    const running = subject.run(end.signal).finally(() => (isEnded = true))
    this.#stop = async () => {
      end.abort()
      await clock.advanceUntil(() => isEnded)
      await running
    }
    await this.settle()
  }

  async stop(): Promise<void> {
    await this.#stop?.()
    this.#stop = undefined
  }

  /** Makes an Application, or changes the one that is there, as a user would. */
  async write(name: string, spec: ApplicationSpec): Promise<void> {
    const live = this.server.peek(Application, at(name))
    if (live) await this.api.update(Application, { ...live, spec })
    else await this.create(name, spec)
    this.forget()
  }

  async create(name: string, spec: ApplicationSpec): Promise<void> {
    await this.api.create(Application, { metadata: at(name), spec })
  }

  read(name: string): Stored<Application> | undefined {
    return this.server.peek(Application, at(name))
  }

  /** Does what the controller of Deployments does when all goes well. */
  rollOut(name: string, ready?: number): void {
    const live = this.server.peek(Deployment, at(name))
    if (!live) throw new Error(`no Deployment ${name}`)
    const replicas = live.spec?.replicas ?? 1
    const count = { replicas, updatedReplicas: replicas, readyReplicas: ready ?? replicas }
    this.server.seed(Deployment, { ...live, status: { ...count, observedGeneration: live.metadata.generation ?? 0 } })
  }

  /** A pod of a Deployment, whose container waits for a reason. */
  addPod(name: string, deployment: string, reason: string): void {
    const template = this.server.peek(Deployment, at(deployment))?.spec?.template
    const container = { name: 'app', image: 'x', imageID: '', ready: false, restartCount: 0 }
    this.server.seed(Pod, {
      metadata: { ...template?.metadata, ...at(name) },
      status: { containerStatuses: [{ ...container, state: { waiting: { reason, message: `${reason}!` } } }] },
    })
  }

  /** Until nothing has been asked of the server for a while that is shorter than any wait of ours. */
  async settle(): Promise<void> {
    for (let quiet = 0, seen = -1; quiet < 10; seen = this.server.requests.length) {
      await this.clock.advance(10)
      quiet = seen === this.server.requests.length ? quiet + 1 : 0
    }
  }

  async phase(name: string, wanted: string): Promise<void> {
    await this.clock.advanceUntil(() => this.read(name)?.status?.phase === wanted)
    await this.settle()
  }

  /** Writes but for those of events: `apply deployments/web`. */
  get writes(): readonly string[] {
    return this.server.requests
      .filter(({ plural, verb }) => plural !== Event.plural && !['get', 'list', 'watch'].includes(verb))
      .map(({ name, plural, subresource, verb }) => `${verb} ${plural}/${name}${subresource && `/${subresource}`}`)
  }

  /** Reasons of the events there are, and how often each. */
  get events(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.server.objects(Event).map(({ reason, series }) => [reason ?? '', series?.count ?? 1]),
    )
  }

  forget(): void {
    this.server.clearRequests()
  }
}

export const at = (name: string) => ({ name, namespace: 'default' })
