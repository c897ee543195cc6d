import { Client, type Kind, type KubeObject, type ObjectRef, type Stored } from '@tenure/kube'
import { CoreEvent, Deployment, Pod, type PodSpec, ReplicaSet } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import type { Facts, Logger } from '@tenure/runtime'
import { type ControlPlane, startControlPlane } from '../control-plane.ts'
import type { BuiltInControllersOptions } from './index.ts'

/** A whole control plane in virtual time: the embedded API server and all its controllers. */
export class ControlPlaneFixture {
  readonly clock: VirtualClock
  readonly api: Client
  readonly plane: ControlPlane
  /** Logged warnings and errors. */
  readonly warnings: string[]

  private constructor(clock: VirtualClock, plane: ControlPlane, warnings: string[]) {
    this.clock = clock
    this.plane = plane
    this.warnings = warnings
    const random = seededRandom(3)
    this.api = new Client({
      transport: plane.transport,
      clock,
      random,
      defaultNamespace: 'default',
      fieldManager: 'test',
    })
  }

  static async start(nodes?: BuiltInControllersOptions['nodes']): Promise<ControlPlaneFixture> {
    const clock = new VirtualClock()
    const warnings: string[] = []
    const starting = startControlPlane({
      port: false,
      clock,
      random: seededRandom(5),
      log: collector(warnings),
      ...(nodes !== undefined && { nodes }),
    })
    const plane = await whileTimePasses(clock, starting)
    const fixture = new ControlPlaneFixture(clock, plane, warnings)
    // Creating a pod requires the service account of its namespace.
    await fixture.settle()
    return fixture
  }

  /** Fails if something was logged as a warning or an error. */
  async end(): Promise<void> {
    await whileTimePasses(this.clock, this.plane.stop())
    if (this.warnings.length > 0) throw new Error(`Unexpected warnings:\n${this.warnings.join('\n')}`)
  }

  /** Advances the clock by `step` milliseconds at a time until `condition` holds. */
  async until(condition: () => boolean | Promise<boolean>, what: string, limit = 60_000, step = 50): Promise<void> {
    for (let passed = 0; passed <= limit; passed += step) {
      if (await condition()) return
      await this.clock.advance(step)
    }
    throw new Error(`Not ${what} within ${limit} ms of virtual time. ${this.warnings.join('\n')}`)
  }

  /** Advances the clock until nothing was written for one second. */
  async settle(limit = 60_000): Promise<void> {
    let quiet = 0
    let last = -1
    await this.until(
      () => {
        const { revision } = this.plane.storage
        quiet = revision === last ? quiet + 50 : 0
        last = revision
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

  /** `reason: message` of the Events about an object, in the order of their last writes. */
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

/** Advances the clock until the work is done. */
export async function whileTimePasses<R>(clock: VirtualClock, work: Promise<R>): Promise<R> {
  const state = { isDone: false }
  const done = work.finally(() => {
    state.isDone = true
  })
  done.catch(() => undefined)
  for (let turn = 0; turn < 5_000 && !state.isDone; turn++) await clock.advance(10)
  return done
}

function collector(warnings: string[]): Logger {
  const note = (message: string, facts?: Facts): void => {
    const error = facts?.['error']
    warnings.push(`${message} ${JSON.stringify(facts)} ${error instanceof Error ? (error.stack ?? '') : ''}`)
  }
  const log: Logger = { debug: () => undefined, info: () => undefined, warn: note, error: note, child: () => log }
  return log
}
