import type { Flags } from './usage.ts'
import { flags } from './usage.ts'

/** Runs one measurement and prints one line of JSON, like the peer does in Go. */
export async function run(
  measurements: Readonly<Record<string, (flag: Flags) => object | Promise<object>>>,
): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2)
  const measure = measurements[name]
  if (!measure) throw new Error(`No measurement is called "${name}"`)
  process.stdout.write(`${JSON.stringify(await measure(flags(args)))}\n`)
}
