import { posix } from 'node:path'
import { isJsonObject } from '@tenure/kube/model'
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
  let token: unknown
  try {
    token = parseJson(Buffer.from(text, 'base64url').toString('latin1'), 'bytes').value ?? {}
  } catch (error) {
    throw unreadable(`: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isJsonObject(token)) throw unreadable(mismatch(token, 'value of type storage.continueToken'))
  const { v = '', rv = 0, start = '', n } = token
  if (typeof v !== 'string') throw unreadable(mismatch(v, 'struct field continueToken.v of type string'))
  if (typeof rv !== 'number' || !Number.isInteger(rv) || Math.abs(rv) > MAX_INT64) {
    throw unreadable(mismatch(rv, 'struct field continueToken.rv of type int64'))
  }
  if (typeof start !== 'string') throw unreadable(mismatch(start, 'struct field continueToken.start of type string'))
  if (v !== 'meta.k8s.io/v1') throw unreadable(`: server does not recognize this encoded version ${v}`)
  if (rv === 0) throw unreadable(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (start === '') throw unreadable(': encoded start key empty (version meta.k8s.io/v1)')
  const key = start.startsWith('/') ? start : `/${start}`
  if (key.endsWith('/') || posix.normalize(key) !== key) throw unreadable(`: ${start}`)
  return {
    revision: rv,
    after: start.endsWith('\u0000') ? start.slice(0, -1) : start,
    remaining: typeof n === 'number' && Number.isSafeInteger(n) && n > 0 ? n : undefined,
  }
}

/** The largest number that is not above the largest int64. */
const MAX_INT64 = 2 ** 63 - 1024

/** The error of Go's JSON decoder. */
function mismatch(value: unknown, into: string): string {
  const isNumberField = into.endsWith('int64')
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  const shown = typeof value === 'number' && isNumberField ? `number ${value}` : type === 'boolean' ? 'bool' : type
  return `: json: cannot unmarshal ${shown} into Go ${into}`
}

const unreadable = (why: string): StatusError => badRequest(`invalid continue token: continue key is not valid${why}`)

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
