import type { Flags } from './usage.ts'
import { flags } from './usage.ts'

/** What the peer does in Go, done with Tenure: one measurement per process, one line of JSON. */
export async function run(
  measurements: Readonly<Record<string, (flag: Flags) => object | Promise<object>>>,
): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2)
  const measure = measurements[name]
  if (!measure) throw new Error(`no measurement is called "${name}"`)
  process.stdout.write(`${JSON.stringify(await measure(flags(args)))}\n`)
}
