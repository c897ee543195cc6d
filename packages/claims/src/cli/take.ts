import type { ClaimGrant, ClaimsClient, TakeOptions } from '../client/index.ts'
import { clientOf, takeOptionsOf } from './client.ts'
import type { ClaimCliContext, ClaimCliOptions } from './context.ts'
import { argumentError, describeFailure, EXIT_CODES, isUsageError, signalExitCode } from './exit-codes.ts'
import { formatOf, GRANT_FORMATS, writeGrant } from './output.ts'
import { runWithClaim } from './run-command.ts'

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Takes a claim and prints it, or runs a command with it. Resolves with the exit code. */
export async function takeClaim(
  context: ClaimCliContext,
  commandLine: readonly string[] | undefined,
  options: ClaimCliOptions,
): Promise<number> {
  const client = clientOf(context, options)
  if (commandLine?.length === 0) throw argumentError('There is no command after --.')
  if (commandLine && options.output !== undefined) {
    throw argumentError('-o has no effect with a command: it gets the claim in its environment.')
  }
  const format = formatOf(options, GRANT_FORMATS)
  const onRetry = (failure: Error, delay: number): void => {
    context.warn(`${describeFailure(failure, client.url)} Trying again in ${Math.ceil(delay / 1_000)} s.`)
  }
  const take = { ...(await takeOptionsOf(options)), onRetry: distinct(onRetry) }
  if (!commandLine) {
    const taken = await takeOnce(context, client, take)
    if ('exitCode' in taken) return taken.exitCode
    writeGrant(context, format, taken.grant, options)
    return 0
  }
  try {
    return await runWithClaim(context, client, take, commandLine)
  } catch (error) {
    if (isUsageError(error)) throw error
    context.warn(describeFailure(error, client.url))
    return EXIT_CODES.notTaken
  }
}

/** A signal ends the wait, and the server releases the claim of a caller that has left. */
async function takeOnce(
  { signals }: ClaimCliContext,
  client: ClaimsClient,
  take: TakeOptions,
): Promise<{ readonly grant: ClaimGrant } | { readonly exitCode: number }> {
  const stop = new AbortController()
  let interruptedBy: NodeJS.Signals | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    interruptedBy ??= signal
    stop.abort(new Error(`Interrupted by ${signal}`))
  }
  for (const signal of STOP_SIGNALS) signals.on(signal, onSignal)
  try {
    return { grant: await client.take({ ...take, signal: stop.signal }) }
  } catch (error) {
    if (interruptedBy) return { exitCode: signalExitCode(interruptedBy) }
    throw error
  } finally {
    for (const signal of STOP_SIGNALS) signals.off(signal, onSignal)
  }
}

/** Reports a failure once, and again when another one follows. */
function distinct(report: (failure: Error, delay: number) => void): (failure: Error, delay: number) => void {
  let last = ''
  return (failure, delay) => {
    if (failure.message !== last) report(failure, delay)
    last = failure.message
  }
}
