import type { Clock } from '../../clock.ts'
import type { Files } from '../files.ts'
import type { CommandRunner } from './run-command.ts'

/** Proof of the client's identity. An unchanged credential is the same object. */
export interface Credential {
  /** The `Authorization` header. */
  readonly authorization?: string | undefined
  /** A client certificate from a plugin, as PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined
}

export interface CredentialSource {
  /** The current credential; a promise only if it must be fetched. */
  get(): Credential | Promise<Credential>
  /** After a 401: another credential than the rejected one, or the same if there is no other. Callers share one fetch. */
  renew(rejected: Credential): Promise<Credential>
  /** Aborts a pending fetch. */
  close(): void
}

export interface CredentialSourceOptions {
  readonly clock: Clock
  readonly files: Files
  readonly run: CommandRunner
  /** Whether standard input is a terminal for prompts. */
  readonly isTerminal: () => boolean
}
