import { systemClock, systemRandom } from '@tenure/kube'
import { ControllerRunner, SharedInformers, controller, createMetrics, silentLogger } from '@tenure/runtime'
import { ConfigMap, connect } from './cluster.ts'
import { run } from './run.ts'
import { Stopwatch } from './stopwatch.ts'
import { usage } from './usage.ts'
import type { Flags } from './usage.ts'

/**
 * Measures the overhead of a reconcile that does nothing, or reads its object from the cache. After the initial list
 * and one warm-up round, every key is enqueued `rounds` times and each round is awaited. Metrics are enabled.
 */
async function reconcileRounds(flag: Flags, read: boolean): Promise<object> {
  const namespace = flag('namespace')
  const count = Number(flag('count'))
  const rounds = Number(flag('rounds'))
  const { client, transport } = await connect(flag('kubeconfig'))
  const informers = new SharedInformers({ api: client })
  let left = 0
  let finish = nothing
  let seen = 0
  const definition = controller(ConfigMap, {
    name: 'bench',
    selection: { namespace },
    concurrency: Number(flag('workers')),
    plan(context) {
      if (read) seen += context.read(ConfigMap, { namespace, name: context.object.metadata.name })?.metadata ? 1 : 0
      if (--left === 0) finish()
      return []
    },
  })
  const runner = new ControllerRunner(definition, {
    api: client,
    informers,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    metrics: await createMetrics(),
    fieldManager: 'bench',
  })
  const end = new AbortController()
  informers.start(end.signal)
  const informer = informers.informer(ConfigMap, { namespace })
  await informer.whenSynced()
  const keys = informer.cache.list().map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`)
  const initial = new Promise<void>((resolve) => {
    left = keys.length
    finish = resolve
  })
  await runner.start()
  await initial
  const round = (): Promise<void> =>
    new Promise((resolve) => {
      left = count
      finish = resolve
      for (let index = 0; index < count; index++) runner.enqueue(keys[index] ?? '')
    })
  await round()
  const stopwatch = new Stopwatch()
  for (let turn = 0; turn < rounds; turn++) await round()
  const result = stopwatch.perItem(count * rounds)
  if (read && seen < count * rounds) throw new Error(`Only ${seen} reads found their object`)
  await runner.stop()
  end.abort()
  await transport.close()
  return { ...result, rssKb: usage().rssKb }
}

function nothing(): void {}

await run({
  'reconcile-noop': (flag) => reconcileRounds(flag, false),
  'reconcile-read': (flag) => reconcileRounds(flag, true),
})
