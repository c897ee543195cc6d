import { metadataOf } from '@tenure/kube'
import type { KubeApi } from '@tenure/kube'
import { SharedInformers } from '@tenure/runtime'
import { ConfigMap, connect } from './cluster.ts'
import { run } from './run.ts'
import { Stopwatch } from './stopwatch.ts'
import { collectGarbage, startedAt, usage } from './usage.ts'
import type { Flags } from './usage.ts'

/**
 * Measures a cache of all ConfigMaps of a namespace from process start to synced: wallMs, CPU, and memory with a full
 * cache and an open watch. heapBytesEach is the heap that is freed when the cache is dropped; it is measured last, so
 * that its garbage collections do not count in the other figures.
 */
async function informerSync(flag: Flags): Promise<object> {
  const { client, transport } = await connect(flag('kubeconfig'))
  const { figures, full } = await syncOnce(client, flag)
  await transport.close()
  return { ...figures, heapBytesEach: (full - heapUsed()) / figures.count }
}

/** A separate function, so that no variable references the cache after it returns. */
async function syncOnce(
  api: KubeApi,
  flag: Flags,
): Promise<{ readonly figures: { readonly count: number }; readonly full: number }> {
  const kind = flag('metadata', '') === 'true' ? metadataOf(ConfigMap) : ConfigMap
  const informers = new SharedInformers({ api })
  const informer = informers.informer(kind, { namespace: flag('namespace') })
  const end = new AbortController()
  const start = new Stopwatch()
  informers.start(end.signal)
  await informer.whenSynced()
  const { wallMs: syncWallMs, cpuMs: syncCpuMs } = start.perItem(1)
  const wallMs = performance.timeOrigin + performance.now() - startedAt()
  const { cpuMs } = usage()
  const { rssKb, anonKb, peakRssKb } = afterGarbageCollection()
  const count = informer.cache.size
  const jsonBytes = informer.cache.list().reduce((sum, object) => sum + JSON.stringify(object).length, 0)
  const full = heapUsed()
  end.abort()
  const times = { wallMs, cpuMs, syncWallMs, syncCpuMs }
  const memory = { rssKb, anonKb, peakRssKb, jsonBytesEach: jsonBytes / count }
  const figures = { metadata: kind.representation === 'metadata', count, ...times, ...memory }
  return { figures, full }
}

/** Measures CPU per watch event while the peer's writer makes them: the same load as for the peer. */
async function watchThroughput(flag: Flags): Promise<object> {
  const namespace = flag('namespace')
  const count = Number(flag('count'))
  const { client, transport } = await connect(flag('kubeconfig'))
  const informers = new SharedInformers({ api: client })
  const informer = informers.informer(ConfigMap, { namespace })
  const end = new AbortController()
  informers.start(end.signal)
  await informer.whenSynced()
  let handled = 0
  const done = new Promise<void>((resolve) => {
    informer.subscribe((event) => {
      if (event.type === 'modified' && ++handled === count) resolve()
    })
  })
  const stopwatch = new Stopwatch()
  await Promise.all([runToEnd(flag('writer'), writerArguments(flag)), done])
  const result = stopwatch.perItem(count)
  end.abort()
  await transport.close()
  return { ...result, ...afterGarbageCollection() }
}

function writerArguments(flag: Flags): readonly string[] {
  const names = ['kubeconfig', 'namespace', 'prefix', 'count', 'objects', 'size', 'concurrency']
  return ['write', ...names.flatMap((name) => [`--${name}`, flag(name)])]
}

async function runToEnd(program: string, args: readonly string[]): Promise<void> {
  const { spawn } = await import('node:child_process')
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} write exited with ${code}`))))
  })
}

function heapUsed(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

function afterGarbageCollection(): Omit<ReturnType<typeof usage>, 'cpuMs'> {
  collectGarbage()
  const { cpuMs: _, ...memory } = usage()
  return memory
}

await run({ 'informer-sync': informerSync, 'watch-throughput': watchThroughput })
