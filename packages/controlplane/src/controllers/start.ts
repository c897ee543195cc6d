import { Client, type Clock, type Random, systemClock, systemRandom, type Transport } from '@tenure/kube'
import { type Component, type Logger, type Metrics, noMetrics, SharedInformers, silentLogger } from '@tenure/runtime'
import { CoreEventRecorder } from './common/core-events.ts'
import type { BuiltInController, ControlPlaneContext } from './context.ts'

export interface StartControllersOptions {
  readonly transport: Transport
  readonly controllers: readonly BuiltInController[]
  /** Default: the system's. */
  readonly clock?: Clock
  /** Default: the system's. */
  readonly random?: Random
  /** Default: silent. */
  readonly log?: Logger
  /** Default: none. */
  readonly metrics?: Metrics
  /** Freezes cached objects, to find code that mutates them. Default: false. */
  readonly freeze?: boolean
}

export interface RunningControllers {
  readonly context: ControlPlaneContext
  /** Stops all controllers in reverse start order, each within `grace` milliseconds. Default: 2,000. */
  stop(grace?: number): Promise<void>
}

/** Starts controllers against the API server behind `transport`. Resolves when all of them run. */
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
  const recorders: CoreEventRecorder[] = []
  const context: ControlPlaneContext = {
    controllers,
    scheduler,
    kubelet,
    informers,
    clock,
    random,
    log,
    metrics,
    recorderFor: (component, host) => {
      const api = host === undefined ? controllers : kubelet
      const events = new CoreEventRecorder({ api, clock, random, component, ...(host !== undefined && { host }) })
      recorders.push(events)
      return events
    },
  }
  const ended = new AbortController()
  const started: Component[] = []
  const stop = async (grace = 2_000): Promise<void> => {
    for (let component = started.pop(); component; component = started.pop()) await component.stop(grace)
    for (const recorder of recorders) recorder.close()
    ended.abort(new Error('The controllers are stopping'))
    await informers.whenStopped()
  }
  const startAll = async (components: readonly Component[]): Promise<void> => {
    started.push(...components)
    await Promise.all(components.map((component) => component.start(ended.signal)))
  }
  informers.start(ended.signal)
  const unobserve = [informers.observe(scheduler), informers.observe(kubelet)]
  ended.signal.addEventListener('abort', () => unobserve.forEach((end) => end()), { once: true })
  try {
    // All are created first, so that their caches sync concurrently. The others need what the first one writes.
    const [first, ...others] = options.controllers.map((controller) => controller.create(context))
    if (first) await startAll([first])
    await startAll(others)
  } catch (error) {
    await stop(0)
    throw error
  }
  return { context, stop }
}
