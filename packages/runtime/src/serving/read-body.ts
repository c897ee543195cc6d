import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Clock } from '@tenure/kube'
import type { HeldBytes } from './byte-budget.ts'

export interface ReadBodyOptions {
  /** Maximum size in bytes. */
  readonly maxBytes: number
  /** Accounts for the bytes in memory. The caller releases them when the request is done. */
  readonly held: HeldBytes
  /** Milliseconds for the client to send the whole body. */
  readonly timeout: number
  readonly clock: Clock
}

/**
 * `cut`: the client disconnected or reset the stream before the end of the body. `overBudget`: the server holds too many
 * bytes of other requests. `tooSlow`: the body did not arrive in time.
 */
export type BodyFailure = 'tooLarge' | 'cut' | 'overBudget' | 'tooSlow'

/**
 * Reads the body of a request over HTTP/1.1 or HTTP/2. A part of a body is never returned: a delete without its
 * preconditions deletes too much. After a failure the rest of the body is unread; `discardBody` drops it.
 */
export function readBody(body: Readable, options: ReadBodyOptions): Promise<Buffer | BodyFailure> {
  const { maxBytes, held, timeout, clock } = options
  if (declaredLength(body) > maxBytes) return Promise.resolve('tooLarge')
  if (body.destroyed) return Promise.resolve('cut')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    // Listeners: iterating costs several times as much.
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > maxBytes) settle('tooLarge')
      else if (!held.take(chunk.length)) settle('overBudget')
      else chunks.push(chunk)
    }
    const onEnd = (): void => {
      if (!hasEnded(body)) return settle('cut')
      settle(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size))
    }
    const onCut = (): void => settle('cut')
    const timer = clock.setTimer(timeout, () => settle('tooSlow'))
    const settle = (result: Buffer | BodyFailure): void => {
      timer.cancel()
      body.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      // A later error must have a listener.
      body.on('error', () => undefined)
      if (typeof result === 'string') {
        held.release()
        body.pause()
      }
      resolve(result)
    }
    body.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}

/**
 * Reads and drops the rest of a body that was refused: closing a connection while the client still sends would reset
 * it, and the client would lose the response. A body of more than `maxBytes` more bytes is cut off.
 */
export function discardBody(body: Readable, maxBytes: number, done: () => void = () => undefined): void {
  let left = maxBytes
  body.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) body.destroy()
  })
  body.once('close', done).once('end', done)
  // A disconnected client is not an error.
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
