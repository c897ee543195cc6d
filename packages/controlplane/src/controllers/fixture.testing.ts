import { Client, type Kind, type KubeObject, type ObjectRef, type Stored } from '@tenure/kube'
import { CoreEvent, Deployment, Pod, type PodSpec, ReplicaSet } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import type { Facts, Logger } from '@tenure/runtime'
import { type ControlPlane, startControlPlane } from '../control-plane.ts'
import type { BuiltInControllersOptions } from './index.ts'

/** A whole control plane in virtual time: the embedded server and all its controllers. */
export class World {
  readonly clock: VirtualClock
  readonly api: Client
  readonly plane: ControlPlane
  /** What was logged as a warning or an error. */
  readonly complaints: string[]

  private constructor(clock: VirtualClock, plane: ControlPlane, complaints: string[]) {
    this.clock = clock
    this.plane = plane
    this.complaints = complaints
    const random = seededRandom(3)
    this.api = new Client({
      transport: plane.transport,
      clock,
      random,
      defaultNamespace: 'default',
      fieldManager: 'test',
    })
  }

  static async start(nodes?: BuiltInControllersOptions['nodes']): Promise<World> {
    const clock = new VirtualClock()
    const complaints: string[] = []
    const starting = startControlPlane({
      port: false,
      clock,
      random: seededRandom(5),
      log: collector(complaints),
      ...(nodes !== undefined && { nodes }),
    })
    const plane = await whileTimePasses(clock, starting)
    const world = new World(clock, plane, complaints)
    // A pod can not be made before its namespace has its account.
    await world.settle()
    return world
  }

  /** Fails if something was logged as a warning or an error. */
  async end(): Promise<void> {
    await whileTimePasses(this.clock, this.plane.stop())
    if (this.complaints.length > 0) throw new Error(`somebody complained:\n${this.complaints.join('\n')}`)
  }

  /** Lets time pass, `step` milliseconds at a time, until `condition` holds. */
  async until(condition: () => boolean | Promise<boolean>, what: string, limit = 60_000, step = 50): Promise<void> {
    for (let passed = 0; passed <= limit; passed += step) {
      if (await condition()) return
      await this.clock.advance(step)
    }
    throw new Error(`${what}: not within ${limit} ms of virtual time. ${this.complaints.join('\n')}`)
  }

  /** Lets time pass until nothing has been written for a second of it. */
  async settle(limit = 60_000): Promise<void> {
    let quiet = 0
    let seen = -1
    await this.until(
      () => {
        const { revision } = this.plane.storage
        quiet = revision === seen ? quiet + 50 : 0
        seen = revision
        return quiet >= 1_000
      },
      'quiet',
      limit,
    )
  }

  async get<T extends KubeObject>(kind: Kind<T>, name: string, namespace = 'default'): Promise<Stored<T> | undefined> {
    const ref: ObjectRef = kind.namespaced ? { name, namespace } : { name }
    return this.api.get(kind, ref).catch(() => undefined)
  }

  async list<T extends KubeObject>(
    kind: Kind<T>,
    labelSelector?: string,
    namespace = 'default',
  ): Promise<readonly Stored<T>[]> {
    const { items } = await this.api.list(kind, { ...(kind.namespaced && { namespace }), labelSelector })
    return items
  }

  pods(labelSelector?: string): Promise<readonly Stored<Pod>[]> {
    return this.list(Pod, labelSelector)
  }

  sets(): Promise<readonly Stored<ReplicaSet>[]> {
    return this.list(ReplicaSet)
  }

  /** `reason: message` of the events about an object, in order of their names' time. */
  async events(name: string): Promise<readonly string[]> {
    const events = await this.list(CoreEvent)
    return events
      .filter(({ involvedObject }) => involvedObject.name === name)
      .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map(({ message, reason }) => `${reason}: ${message}`)
  }

  async deployment(
    name: string,
    spec: Partial<NonNullable<Deployment['spec']>> & { image?: string } = {},
    annotations?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { image = 'app:1', ...rest } = spec
    await this.api.create<Deployment>(Deployment, {
      metadata: { name },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: name } },
        template: template(name, image, annotations),
        ...rest,
      },
    })
  }

  async isRolledOut(name: string): Promise<boolean> {
    const deployment = await this.get(Deployment, name)
    const { replicas = 1 } = deployment?.spec ?? {}
    const status = deployment?.status
    return (
      (status?.observedGeneration ?? 0) >= (deployment?.metadata.generation ?? 1) &&
      status?.updatedReplicas === replicas &&
      status.replicas === replicas &&
      status.availableReplicas === replicas
    )
  }
}

export function template(
  app: string,
  image = 'app:1',
  annotations?: Readonly<Record<string, string>>,
  spec: Partial<PodSpec> = {},
): NonNullable<Deployment['spec']>['template'] {
  return {
    metadata: { labels: { app }, ...(annotations && { annotations }) },
    spec: { containers: [{ name: 'main', image }], ...spec },
  }
}

/** Work that waits for the clock as well as for itself. */
export async function whileTimePasses<R>(clock: VirtualClock, work: Promise<R>): Promise<R> {
  const state = { isDone: false }
  const done = work.finally(() => {
    state.isDone = true
  })
  done.catch(() => undefined)
  for (let turn = 0; turn < 5_000 && !state.isDone; turn++) await clock.advance(10)
  return done
}

function collector(complaints: string[]): Logger {
  const note = (message: string, facts?: Facts): void => {
    const error = facts?.['error']
    complaints.push(`${message} ${JSON.stringify(facts)} ${error instanceof Error ? (error.stack ?? '') : ''}`)
  }
  const log: Logger = { debug: () => undefined, info: () => undefined, warn: note, error: note, child: () => log }
  return log
}
