// What the peer does in Go, done with Tenure: one measurement per process, one line of JSON.
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { flags } from './usage.ts'

// As in an image, which carries the cache with it: 20 to 35 ms of CPU at the start are not spent on compiling again.
enableCompileCache(path.join(import.meta.dirname, 'compiled'))

const [name = '', ...args] = process.argv.slice(2)
const flag = flags(args)

async function measure(): Promise<object> {
  switch (name) {
    case 'informer-sync':
      return (await import('./informer.ts')).informerSync(flag)
    case 'watch-throughput':
      return (await import('./informer.ts')).watchThroughput(flag)
    case 'reconcile-noop':
      return (await import('./reconcile.ts')).reconcileRounds(flag, false)
    case 'reconcile-read':
      return (await import('./reconcile.ts')).reconcileRounds(flag, true)
    case 'apply':
      return (await import('./apply.ts')).apply(flag)
    case 'idle':
      return (await import('./idle.ts')).idle(flag)
    case 'queue':
      return (await import('./queue.ts')).queue(flag)
    default:
      throw new Error(`no measurement is called "${name}"`)
  }
}

process.stdout.write(`${JSON.stringify(await measure())}\n`)
