import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

export interface ReadBodyOptions {
  /** Maximum size in bytes. */
  readonly maxBytes: number
}

/** `cut`: the client disconnected or reset the stream before the end of the body. */
export type BodyFailure = 'tooLarge' | 'cut'

/**
 * Reads the body of a request over HTTP/1.1 or HTTP/2. A part of a body is never returned: a delete without its
 * preconditions deletes too much. After a failure the rest of the body is unread; `discardBody` drops it.
 */
export function readBody(body: Readable, { maxBytes }: ReadBodyOptions): Promise<Buffer | BodyFailure> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    // Listeners: iterating costs several times as much.
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > maxBytes) settle('tooLarge')
      else chunks.push(chunk)
    }
    const onEnd = (): void => {
      if (!hasEnded(body)) return settle('cut')
      settle(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size))
    }
    const onCut = (): void => settle('cut')
    const settle = (result: Buffer | BodyFailure): void => {
      body.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      // A later error must have a listener.
      body.on('error', () => undefined)
      if (typeof result === 'string') body.pause()
      resolve(result)
    }
    if (declaredLength(body) > maxBytes) resolve('tooLarge')
    else if (body.destroyed) resolve('cut')
    else body.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}

/** Reads and drops the rest of a body, so that the client can read a response that is sent before the body has ended. */
export function discardBody(body: Readable): void {
  body.on('error', () => undefined)
  body.resume()
}

/** Whether the client has sent the end of the body. Node also ends a body that was cut off. */
function hasEnded(body: Readable): boolean {
  // An HTTP/2 stream that was reset, or whose connection is lost, is closed before it ends.
  return body instanceof IncomingMessage ? body.complete : !body.closed
}

function declaredLength(body: Readable): number {
  return body instanceof IncomingMessage ? Number(body.headers['content-length'] ?? 0) : 0
}
