// The command `tenure-controlplane`, which `npx @tenure/controlplane` runs.
import { asError } from '@tenure/kube'
import { silentLogger, stopSignals } from '@tenure/runtime'
import { loggerOf } from '@tenure/runtime/cli'
import { readConfiguration } from '@tenure/runtime/configuration'
import { controlPlaneProgram, runProgram } from './command.ts'

/** Milliseconds after a signal at which the process ends in any case. */
const STOP_DEADLINE_MS = 4_500

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function main(): Promise<void> {
  const loaded = await readConfiguration(controlPlaneProgram, { argv: process.argv.slice(2), environment: process.env })
  if (loaded.kind === 'help') {
    process.stdout.write(`${loaded.text}\n`)
    return
  }
  // A terminal that closes takes its output with it; the stop must go on.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const stop = stopSignals({ log: silentLogger, deadline: STOP_DEADLINE_MS })
  const log = await loggerOf(loaded.values)
  try {
    await runProgram(loaded.values, { print, say, log }, stop.signal)
  } finally {
    stop.dispose()
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${asError(error).message}\n`)
  process.exitCode = 1
}
