import { badRequest, StatusError } from '../../errors.ts'
import { parseJson } from '../decode/json-text.ts'

export interface ContinueToken {
  /** The revision of the list; -1 for the newest. */
  readonly revision: number
  /** The last key of the previous page. */
  readonly after: string
  /** How many objects were left when the token was made; undefined if unknown. */
  readonly remaining: number | undefined
}

export function encodeContinue({ revision, after, remaining }: ContinueToken): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: `${after}\u0000`, n: remaining }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

export function decodeContinue(text: string): ContinueToken {
  let token: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown; readonly n?: unknown }
  try {
    token = parseJson(Buffer.from(text, 'base64url').toString('latin1'), 'bytes').value ?? {}
  } catch (error) {
    throw unreadable(`continue key is not valid: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (token.v !== 'meta.k8s.io/v1')
    throw unreadable(
      `continue key is not valid: server does not recognize this encoded version ${typeof token.v === 'string' ? token.v : ''}`,
    )
  if (typeof token.rv !== 'number' || !Number.isInteger(token.rv) || token.rv === 0) {
    throw unreadable('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  }
  if (typeof token.start !== 'string' || token.start === '') {
    throw unreadable('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)')
  }
  return {
    revision: token.rv,
    after: token.start.endsWith('\u0000') ? token.start.slice(0, -1) : token.start,
    remaining: typeof token.n === 'number' ? token.n : undefined,
  }
}

const unreadable = (why: string): StatusError => badRequest(`invalid continue token: ${why}`)

/** A list that cannot continue because its revision is compacted. Carries a token that continues with the newest state. */
export class ContinueExpired extends StatusError {
  readonly continueToken: string

  constructor(token: ContinueToken) {
    super(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    )
    this.continueToken = encodeContinue({ revision: -1, after: token.after, remaining: undefined })
  }
}
