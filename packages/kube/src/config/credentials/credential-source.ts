import type { Clock } from '../../clock.ts'
import type { Files } from '../files.ts'
import type { CommandRunner } from './run-command.ts'

/** What proves who we are. The same object as long as it is the same proof. */
export interface Credential {
  /** The `Authorization` header. */
  readonly authorization?: string | undefined
  /** A client certificate that a plugin handed out, as PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined
}

export interface CredentialSource {
  /** The credential to use now; a promise only if it must be fetched. */
  get(): Credential | Promise<Credential>
  /** After a 401: another credential than the refused one, or the same if there is none. Callers share one fetch. */
  renew(refused: Credential): Promise<Credential>
  /** Ends what is under way. */
  close(): void
}

export interface CredentialSourceOptions {
  readonly clock: Clock
  readonly files: Files
  readonly run: CommandRunner
  /** Whether a person can answer questions on standard input. */
  readonly isTerminal: () => boolean
}
