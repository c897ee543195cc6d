import { Client, type Clock, type Random, systemClock, systemRandom, type Transport } from '@tenure/kube'
import { type Component, type Logger, type Metrics, noMetrics, SharedInformers, silentLogger } from '@tenure/runtime'
import { CoreEvents } from './common/core-events.ts'
import type { BuiltInController, Surroundings } from './context.ts'

export interface StartControllersOptions {
  readonly transport: Transport
  readonly controllers: readonly BuiltInController[]
  /** Default: the machine's. */
  readonly clock?: Clock
  /** Default: the machine's. */
  readonly random?: Random
  /** Default: says nothing. */
  readonly log?: Logger
  /** Default: measures nothing. */
  readonly metrics?: Metrics
  /** Freeze cached objects, to find who changes them. Default false. */
  readonly freeze?: boolean
}

export interface RunningControllers {
  readonly surroundings: Surroundings
  /** Ends all, last started first, within `grace` milliseconds each. Default 2,000. */
  stop(grace?: number): Promise<void>
}

/** Starts controllers against an API server, reached through `transport`; resolves when all of them work. */
export async function startControllers(options: StartControllersOptions): Promise<RunningControllers> {
  const { clock = systemClock, log = silentLogger, metrics = noMetrics, random = systemRandom, transport } = options
  const client = (fieldManager: string): Client => new Client({ transport, clock, random, fieldManager })
  const controllers = client('kube-controller-manager')
  const scheduler = client('kube-scheduler')
  const kubelet = client('kubelet')
  const informers = new SharedInformers({
    api: controllers,
    clock,
    random,
    log,
    metrics,
    ...(options.freeze !== undefined && { freeze: options.freeze }),
  })
  const recorders: CoreEvents[] = []
  const surroundings: Surroundings = {
    controllers,
    scheduler,
    kubelet,
    informers,
    clock,
    random,
    log,
    metrics,
    events: (component, host) => {
      const api = host === undefined ? controllers : kubelet
      const events = new CoreEvents({ api, clock, random, component, ...(host !== undefined && { host }) })
      recorders.push(events)
      return events
    },
  }
  const ended = new AbortController()
  const started: Component[] = []
  const stop = async (grace = 2_000): Promise<void> => {
    for (let component = started.pop(); component; component = started.pop()) await component.stop(grace)
    for (const recorder of recorders) recorder.close()
    ended.abort(new Error('the controllers stop'))
    await informers.whenStopped()
  }
  const begin = async (components: readonly Component[]): Promise<void> => {
    started.push(...components)
    await Promise.all(components.map((component) => component.start(ended.signal)))
  }
  informers.start(ended.signal)
  const unobserve = [informers.observe(scheduler), informers.observe(kubelet)]
  ended.signal.addEventListener('abort', () => unobserve.forEach((end) => end()), { once: true })
  try {
    // All are made first, so that their caches fill at the same time. What the first one makes, the others need.
    const [first, ...others] = options.controllers.map((controller) => controller.create(surroundings))
    if (first) await begin([first])
    await begin(others)
  } catch (error) {
    await stop(0)
    throw error
  }
  return { surroundings, stop }
}
