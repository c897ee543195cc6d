// Runs the embedded control plane or one of its load generators, each in its own process.
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { flags } from '../../programs/usage.ts'

enableCompileCache(path.join(import.meta.dirname, 'compiled'))

const [name = '', ...args] = process.argv.slice(2)
const flag = flags(args)

async function run(): Promise<object | undefined> {
  switch (name) {
    case 'serve':
      return (await import('./serve.ts')).serve(flag)
    case 'generate':
      return (await import('./generate.ts')).generate(flag)
    case 'watch':
      return (await import('./watch.ts')).watch(flag)
    case 'fill':
      return (await import('./stored.ts')).fill(flag)
    case 'open':
      return (await import('./stored.ts')).open(flag)
    case 'in-process':
      return (await import('./in-process.ts')).inProcess(flag)
    default:
      throw new Error(`No program is called "${name}"`)
  }
}

const figures = await run()
if (figures) process.stdout.write(`${JSON.stringify(figures)}\n`)
