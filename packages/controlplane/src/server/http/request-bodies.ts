import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@tenure/kube'
import type { BodyFailure, HeldBytes } from '@tenure/runtime/serving'
import { readBody } from '@tenure/runtime/serving'
import { badRequest, StatusError } from '../../errors.ts'
import type { RequestText, ServerRequest } from '../api-server.ts'
import { MAX_BODY_BYTES, tooLarge } from '../encoding/request-body.ts'
import type { HttpsLimits } from './https-limits.ts'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'
/** Larger bodies take long to decode. */
const LARGE_BODY_BYTES = 64 * 1024

/** Reads and decodes the bodies of requests. */
export class RequestBodies {
  readonly #limits: HttpsLimits
  readonly #clock: Clock
  /** Resolves when the next large body may be handled. */
  #largeBodies: Promise<void> = Promise.resolve()

  constructor(limits: HttpsLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** The text of a body. Throws a StatusError unless the whole body arrives in time and within the limits. */
  async read(
    body: Readable,
    headers: Readonly<Record<string, string | undefined>>,
    held: HeldBytes,
  ): Promise<RequestText> {
    const read = await readBody(body, {
      maxBytes: MAX_BODY_BYTES,
      held,
      timeout: this.#limits.bodyTimeout,
      clock: this.#clock,
    })
    if (typeof read === 'string') throw bodyError(read)
    if (read.length > LARGE_BODY_BYTES) await this.#turnForLargeBody()
    const type = headers['content-type']
    if (read.length === 0 || !type?.startsWith(PROTOBUF)) return { headers, ...(await textOf(read, type)) }
    return { headers: { ...headers, 'content-type': 'application/json' }, body: await fromProtobuf(read) }
  }

  /** Each large body is handled in a turn of the event loop of its own, so that other requests are served between. */
  #turnForLargeBody(): Promise<void> {
    this.#largeBodies = this.#largeBodies.then(() => nextTurn())
    return this.#largeBodies
  }
}

async function fromProtobuf(bytes: Buffer): Promise<string> {
  const { jsonFromProtobuf } = await import('../encoding/protobuf.ts')
  return jsonFromProtobuf(bytes)
}

/** JSON is decoded as UTF-8 with replacement characters; YAML may have another encoding and must be valid. */
async function textOf(bytes: Buffer, type: string | undefined): Promise<Pick<ServerRequest, 'body' | 'unreadable'>> {
  if (!type?.includes('yaml') || isUtf8(bytes)) return { body: bytes.toString() }
  const { decodeYaml } = await import('@tenure/yaml')
  return decodeYaml(bytes)
}

function bodyError(failure: BodyFailure): StatusError {
  switch (failure) {
    case 'tooLarge':
      return tooLarge()
    case 'overBudget':
      return tooMany('The server handles too many large requests')
    case 'tooSlow':
      return new StatusError(408, 'Timeout', 'Timeout: the body of the request did not arrive in time')
    case 'cut':
      return badRequest('the request was cut off before its end')
    default:
      return failure satisfies never
  }
}

export const tooMany = (why: string): StatusError =>
  new StatusError(429, 'TooManyRequests', `${why}, please try again later.`, { retryAfterSeconds: 1 })
