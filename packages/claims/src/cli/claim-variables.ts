import type { ClaimGrant } from '../client/index.ts'

/**
 * Variables that programs and shells depend on: return values must not replace them. A return value of such a name gets the
 * prefix CLAIM_.
 */
const RESERVED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|TERM|LANG|LC_.*|IFS|ENV|BASH_ENV|PS4|NODE_OPTIONS|LD_.*|DYLD_.*|CLAIMS_.*)$/

export interface ClaimVariables {
  readonly variables: Readonly<Record<string, string>>
  /** Return values that have no variable, because another one has its name. */
  readonly conflicts: readonly string[]
}

/** A claim as environment variables: CLAIM_ID, CLAIM_EXPIRES_AT, and the return values in capitals. */
export function claimVariables({ id, expiresAt, data }: ClaimGrant): ClaimVariables {
  const variables = new Map([
    ['CLAIM_ID', id],
    ['CLAIM_EXPIRES_AT', expiresAt],
  ])
  const conflicts: string[] = []
  for (const [key, value] of Object.entries(data)) {
    const name = variableName(key)
    if (variables.has(name)) conflicts.push(`The return value ${JSON.stringify(key)} is left out: ${name} is taken.`)
    else variables.set(name, value)
  }
  return { variables: Object.fromEntries(variables), conflicts }
}

/** Lines that a POSIX shell reads: KEY=value, quoted where needed. */
export function shellLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${shellQuote(value)}`)
    .join('\n')
}

/** A word that a POSIX shell reads as `text`. */
export function shellQuote(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function variableName(key: string): string {
  const name = key.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')
  const valid = /^[A-Z_]/.test(name) ? name : `_${name}`
  return RESERVED.test(valid) ? `CLAIM_${valid}` : valid
}
