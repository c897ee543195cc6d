import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { asError } from '@tenure/kube'
import { rfc3339 } from '@tenure/runtime'
import type { ClaimGrant, ClaimsClient, HeldClaim, TakeOptions } from '../client/index.ts'
import { claimVariables } from './claim-variables.ts'
import type { ClaimCliContext } from './context.ts'
import { describeFailure, EXIT_CODES, signalExitCode } from './exit-codes.ts'

const FORWARDED_SIGNALS = (['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const).filter(
  // Windows has some of them only.
  (signal) => signal in constants.signals,
)
/** A terminal sends these to the command as well. A second one would make many programs end without cleaning up. */
const TERMINAL_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
/** The claim expires anyway, so the exit is not delayed for longer. */
const RELEASE_TIMEOUT_MS = 10_000

/** How a command ended. */
type Ended = { readonly code: number } | { readonly failure: NodeJS.ErrnoException }

/**
 * Takes a claim, runs a command with its data in the environment, renews the claim meanwhile and releases it at the end.
 * Resolves with the exit code. Rejects if no claim could be taken.
 */
export async function runWithClaim(
  context: ClaimCliContext,
  client: ClaimsClient,
  take: TakeOptions,
  commandLine: readonly string[],
): Promise<number> {
  const stop = new AbortController()
  const state: { child?: ChildProcess; interruptedBy?: NodeJS.Signals; isLost?: boolean } = {}
  // While the claim is being released, signals have no effect: launchers and terminals send them more than once.
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!state.child) {
      state.interruptedBy ??= signal
      stop.abort(new Error(`Interrupted by ${signal}`))
    } else if (!context.isTerminal || !TERMINAL_SIGNALS.includes(signal)) state.child.kill(signal)
  }
  const onLost = (reason: Error): void => {
    context.warn(`The claim is lost; sending SIGTERM to the command. ${describeFailure(reason, client.url)}`)
    state.isLost = true
    state.child?.kill('SIGTERM')
  }
  const onError = (failure: Error): void => {
    context.warn(`The claim could not be renewed; trying again. ${describeFailure(failure, client.url)}`)
  }
  for (const signal of FORWARDED_SIGNALS) context.signals.on(signal, onSignal)
  try {
    const claim = await client.claim({ ...take, signal: stop.signal, onLost, onError })
    let ended: Ended
    try {
      ended = await new Promise<Ended>((resolve) => {
        state.child = start(context, client, claim, commandLine, resolve)
      })
    } finally {
      await release(context, client, claim)
    }
    if ('failure' in ended) return notStarted(context, commandLine, ended.failure)
    return state.isLost ? EXIT_CODES.lost : ended.code
  } catch (error) {
    if (state.interruptedBy) return signalExitCode(state.interruptedBy)
    throw error
  } finally {
    for (const signal of FORWARDED_SIGNALS) context.signals.off(signal, onSignal)
  }
}

function start(
  { environment, warn }: ClaimCliContext,
  { url }: ClaimsClient,
  claim: HeldClaim,
  [program = '', ...args]: readonly string[],
  resolve: (ended: Ended) => void,
): ChildProcess {
  const { id, data, preProvisioned, expiresAt } = claim
  const grant: ClaimGrant = { id, data, preProvisioned, expiresAt: rfc3339(expiresAt.getTime()) }
  const { variables, conflicts } = claimVariables(grant)
  for (const conflict of conflicts) warn(conflict)
  const child = spawn(program, args, { stdio: 'inherit', env: { ...environment, ...variables, CLAIMS_URL: url } })
  child.on('error', (failure) => {
    if (child.pid === undefined) resolve({ failure })
    // The command runs as another user, for example.
    else warn(`The command could not be signalled: ${failure.message}`)
  })
  child.once('exit', (code, signal) => resolve({ code: signal ? signalExitCode(signal) : (code ?? 1) }))
  return child
}

async function release(context: ClaimCliContext, { url }: ClaimsClient, claim: HeldClaim): Promise<void> {
  try {
    await claim.release({ timeout: RELEASE_TIMEOUT_MS })
  } catch (error) {
    const end = rfc3339(claim.expiresAt.getTime())
    context.warn(`The claim could not be released; it expires at ${end}. ${describeFailure(error, url)}`)
  }
}

function notStarted({ warn }: ClaimCliContext, [program = '']: readonly string[], failure: unknown): number {
  const { code, message } = asError(failure) as NodeJS.ErrnoException
  const isMissing = code === 'ENOENT'
  warn(isMissing ? `There is no command ${JSON.stringify(program)}.` : `The command cannot be run: ${message}`)
  return isMissing ? EXIT_CODES.notFound : EXIT_CODES.notExecutable
}
