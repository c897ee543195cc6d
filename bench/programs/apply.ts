import { ConfigMap, connect, inParallel } from './cluster.ts'
import { run } from './run.ts'
import { Stopwatch } from './stopwatch.ts'
import { usage } from './usage.ts'
import type { Flags } from './usage.ts'

const WARM_UP = 200

/** Measures the client's CPU for a server-side apply that changes its object, after 200 warm-up calls. */
async function apply(flag: Flags): Promise<object> {
  const namespace = flag('namespace')
  const prefix = flag('prefix')
  const count = Number(flag('count'))
  const concurrency = Number(flag('concurrency'))
  const payload = 'x'.repeat(Number(flag('size')))
  const turn = String(process.hrtime.bigint())
  const { client, transport } = await connect(flag('kubeconfig'))
  const one =
    (start: string) =>
    (index: number): Promise<unknown> => {
      const name = `${start}${String(index).padStart(5, '0')}`
      const labels = { 'app.kubernetes.io/part-of': 'bench', 'app.kubernetes.io/instance': name }
      return client.apply(
        ConfigMap,
        { metadata: { name, namespace, labels }, data: { payload, turn } },
        { force: true, fieldManager: 'bench' },
      )
    }
  await inParallel(WARM_UP, concurrency, one(`${prefix}warm-up-`))
  const stopwatch = new Stopwatch()
  await inParallel(count, concurrency, one(prefix))
  const result = stopwatch.perItem(count)
  await transport.close()
  return { ...result, rssKb: usage().rssKb }
}

await run({ apply })
