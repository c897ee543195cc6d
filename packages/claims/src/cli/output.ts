import {
  type OutputColumn,
  followRows,
  fromNow,
  outputFormatOf,
  type OutputFormat,
  polling,
  type RowOutput,
  rowsText,
  table,
  valueText,
} from '@tenure/runtime/cli'
import type { ClaimDetails, ClaimGrant, ClaimList } from '../client/index.ts'
import { claimVariables, shellLines, shellQuote } from './claim-variables.ts'
import type { ClaimCliContext, ClaimCliOptions } from './context.ts'
import { argumentError } from './exit-codes.ts'

/** Milliseconds between two reads. */
const POLL_MS = 1_000

/** The formats of a claim that was taken. */
export const GRANT_FORMATS = ['table', 'json', 'yaml', 'name', 'env'] as const

export type GrantFormat = (typeof GRANT_FORMATS)[number]

/** Throws if the format is not one of those that the command has. */
export function formatOf<F extends string = OutputFormat>({ output }: ClaimCliOptions, allowed?: readonly F[]): F {
  return outputFormatOf(output, (message) => argumentError(message), allowed)
}

/** Prints a value for programs. */
export function writeValue({ write }: ClaimCliContext, format: 'json' | 'yaml', value: object): void {
  write(format === 'json' ? JSON.stringify(value) : valueText(format, value))
}

/** Prints a claim that was taken. `given` are the options that further commands need too. */
export function writeGrant(
  context: ClaimCliContext,
  format: GrantFormat,
  grant: ClaimGrant,
  given: Pick<ClaimCliOptions, 'url' | 'ttl'>,
): void {
  if (format === 'json' || format === 'yaml') return writeValue(context, format, grant)
  if (format === 'name') return context.write(nameOf(grant))
  if (format === 'env') {
    const { variables, conflicts } = claimVariables(grant)
    for (const conflict of conflicts) context.warn(conflict)
    return context.write(shellLines(variables))
  }
  const rows = [
    ['ID', grant.id],
    ['EXPIRES', expiry(grant.expiresAt, context)],
    ['WARM', grant.preProvisioned ? 'yes' : 'no'],
    ...Object.entries(grant.data).map(([key, value]) => ['DATA', `${key}=${value}`]),
  ]
  const url = given.url === undefined ? '' : ` --url ${shellQuote(given.url)}`
  const ttl = given.ttl === undefined ? '' : ` --ttl ${shellQuote(given.ttl)}`
  context.write(pairs(rows))
  context.write('')
  context.write(`To renew it:    tenure claim renew ${shellQuote(grant.id)}${ttl}${url}`)
  context.write(`To release it:  tenure claim release ${shellQuote(grant.id)}${url}`)
}

export function writeDetails(context: ClaimCliContext, claim: ClaimDetails): void {
  const { message = '', resources = [] } = claim
  const rows = [
    ['ID', claim.id],
    ['POOL', claim.pool ?? 'default'],
    ['STATUS', message ? `${claim.status}: ${message}` : claim.status],
    ['CREATED', expiry(claim.createdAt, context)],
    ['CLAIMED', expiry(claim.claimedAt, context)],
    ['EXPIRES', expiry(claim.expiresAt, context)],
    ['WARM', claim.preProvisioned ? 'yes' : 'no'],
  ]
  context.write(pairs(rows))
  if (resources.length === 0) return
  context.write('')
  const cells = resources.map(({ kind, name, ready, message: text = '' }) => [kind, name, ready ? 'yes' : 'no', text])
  context.write(table(['KIND', 'NAME', 'READY', 'MESSAGE'], cells))
}

/** As `-o name` prints a claim. */
export function nameOf({ id }: { readonly id: string }): string {
  return `claim/${id}`
}

type ListedClaim = ClaimList['claims'][number]

function claimOutput({ clock }: Pick<ClaimCliContext, 'clock'>): RowOutput<ListedClaim> {
  const relative = (time: string | undefined): string =>
    time === undefined ? '-' : fromNow(Date.parse(time), clock.now())
  const columns: readonly OutputColumn<ListedClaim>[] = [
    { heading: 'ID', of: ({ id }) => id },
    { heading: 'POOL', of: ({ pool = 'default' }) => pool },
    { heading: 'STATUS', of: ({ status }) => status },
    {
      heading: 'READY',
      of: ({ resources = [] }) => `${resources.filter(({ ready }) => ready).length}/${resources.length}`,
    },
    { heading: 'CLAIMED', of: ({ claimedAt }) => relative(claimedAt) },
    { heading: 'EXPIRES', of: ({ expiresAt }) => relative(expiresAt) },
    { heading: 'AT', isWide: true, of: ({ expiresAt = '-' }) => expiresAt },
    { heading: 'WARM', isWide: true, of: ({ preProvisioned }) => (preProvisioned ? 'yes' : 'no') },
    { heading: 'MESSAGE', of: ({ message = '' }) => message },
  ]
  return { columns, nameOf }
}

/** Shows claims until Ctrl-C. */
export async function followClaims(
  context: ClaimCliContext,
  format: OutputFormat,
  read: () => Promise<readonly ListedClaim[]>,
): Promise<void> {
  const { clock, follow, write } = context
  const output = claimOutput(context)
  const render = (claims: readonly ListedClaim[]): string => rowsText(format, claims, output)
  await followRows({ ...polling({ clock, write, ...follow }, POLL_MS), read, output, format, render })
}

export function writeList(context: ClaimCliContext, format: OutputFormat, { claims, pools }: ClaimList): void {
  if (format === 'json' || format === 'yaml') return writeValue(context, format, { claims, pools })
  if (claims.length === 0) context.warn('No claims found.')
  else context.write(rowsText(format, claims, claimOutput(context)))
  if (format === 'name') return
  if (pools.length === 0) return
  context.write('')
  const figures = pools.map(({ name, ready, pending, failing, claimed, ...problem }) => [
    name,
    ...[ready, pending, failing, claimed].map(String),
    problem.templateFailure ?? problem.lastFailure ?? '-',
  ])
  context.write(table(['POOL', 'READY', 'PENDING', 'FAILING', 'CLAIMED', 'PROBLEM'], figures))
}

/** `2026-01-01T00:05:00Z (in 5m)`. */
export function expiry(time: string | undefined, { clock }: Pick<ClaimCliContext, 'clock'>): string {
  return time === undefined ? '-' : `${time} (${fromNow(Date.parse(time), clock.now())})`
}

/** Rows of a name and a value. */
function pairs(rows: readonly (readonly string[])[]): string {
  const [first = [], ...rest] = rows
  return table(first, rest)
}
