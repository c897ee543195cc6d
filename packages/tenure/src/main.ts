import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import { asError } from '@tenure/kube'
import { createLogger } from '@tenure/runtime'
import { runControlPlane } from './control-plane.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

interface Options {
  readonly data: string
  readonly port?: number
  readonly verbose?: true
}

const program = new Command('tenure')
  .description('One Kubernetes operator for how long things live and what state they are kept in.')
  .version(manifest.version)
  .showSuggestionAfterError()

const withControlPlane = (command: Command): Command =>
  command
    .option('--data <directory>', 'where everything is kept (TENURE_DATA)', process.env['TENURE_DATA'] || '.tenure')
    .option('--port <number>', 'of the Kubernetes API (default: 6443, or the next that is free)', port)
    .option('--verbose', 'log what happens')
    .action(serve)

withControlPlane(program.command('start')).description(
  'start everything there is so far: a Kubernetes API in this process, with simulated nodes, kept on disk',
)
withControlPlane(program.command('controlplane')).description('run the embedded control plane alone')

async function serve(options: Options): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Error(signal)))
  say(`Tenure ${manifest.version}`)
  await runControlPlane(
    {
      directory: options.data,
      port: options.port,
      log: await createLogger({ level: options.verbose ? 'info' : 'warn', format: 'text' }),
      say,
    },
    stop.signal,
  )
  say('Stopped.')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function port(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 0 to 65535.')
  }
  return value
}

try {
  await program.parseAsync(process.argv)
} catch (error) {
  process.stderr.write(`${asError(error).message}\n`)
  process.exitCode = 1
}
