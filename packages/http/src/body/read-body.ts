import type { IncomingMessage } from 'node:http'
import { HttpError } from '../errors/http-error.ts'

/** Reads a body of at most `limit` bytes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (length > limit) settle(() => reject(tooLarge(limit)))
      else chunks.push(chunk)
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, length)))
    const onGone = (): void => {
      settle(() => reject(new HttpError('TENURE_HTTP_INCOMPLETE', 400, 'The body ended before it was complete')))
    }
    const settle = (how: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      // Later data is dropped, and a later error must have a listener.
      request.on('error', () => undefined)
      how()
    }
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

export function tooLarge(limit: number): HttpError {
  return new HttpError('TENURE_HTTP_TOO_LARGE', 413, `The body is larger than ${limit} bytes`)
}
