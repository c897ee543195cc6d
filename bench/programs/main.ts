// What the peer does in Go, done with Tenure: one measurement per process, one line of JSON.
import { flags } from './usage.ts'

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
    case 'queue':
      return (await import('./queue.ts')).queue(flag)
    default:
      throw new Error(`no measurement is called "${name}"`)
  }
}

process.stdout.write(`${JSON.stringify(await measure())}\n`)
