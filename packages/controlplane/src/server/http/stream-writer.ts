import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers'
import type { ListBody } from '../encoding/list-body.ts'
import type { WatchFeed } from '../watch/watch-feed.ts'

/** Approximate bytes of a watch per write. */
const WATCH_CHUNK_BYTES = 64 * 1024
/** Bytes of a list per write. With 16 concurrent lists, larger pieces take more memory and the same time. */
const LIST_CHUNK_BYTES = 64 * 1024
const PIECES_AT_A_TIME = 2
/** Buffers of finished lists kept for the next ones: 2 MB. */
const MAX_SPARE_BUFFERS = 32
/** Watches written between turns of the event loop, so that a thousand watches do not delay requests. */
const WATCHES_PER_TURN = 256

const spare: Buffer[] = []

/** Writes a list in two alternating buffers: while one is being sent, the next is ready for the socket. */
export function sendList(list: ListBody, out: Writable): void {
  let writers = PIECES_AT_A_TIME
  const write = (): void => {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(LIST_CHUNK_BYTES)
    const next = (error?: Error | null): void => {
      // A broken connection may still use the buffer: then it is not reused.
      if (error || out.destroyed) return
      const size = list.fill(buffer)
      if (size > 0) {
        out.write(buffer.subarray(0, size), next)
        return
      }
      if (spare.length < MAX_SPARE_BUFFERS) spare.push(buffer)
      if (--writers === 0) out.end()
    }
    next()
  }
  for (let writer = 0; writer < PIECES_AT_A_TIME; writer++) write()
}

let waiting: (() => void)[] = []

/** Flushes watches in turns, so that events that arrive meanwhile are sent together. */
function flushInTurn(flush: () => void): void {
  if (waiting.push(flush) === 1) nextTurn(flushSome)
}

function flushSome(): void {
  const turn = waiting
  waiting = turn.splice(WATCHES_PER_TURN)
  if (waiting.length > 0) nextTurn(flushSome)
  for (const flush of turn) flush()
}

/** Writes a watch as fast as its reader reads; the events of one turn form one piece. `cut` ends it at once. */
export function sendWatch(feed: WatchFeed, out: Writable, cut: () => void): void {
  let isBlocked = false
  let isScheduled = false
  const flush = (): void => {
    isScheduled = false
    while (!isBlocked && !out.destroyed) {
      const chunk = feed.take(WATCH_CHUNK_BYTES)
      if (!chunk) {
        if (feed.wasCut) cut()
        else if (feed.isOver) out.end()
        return
      }
      isBlocked = !out.write(chunk)
    }
    if (feed.wasCut) cut()
  }
  out.on('drain', () => {
    isBlocked = false
    flush()
  })
  out.on('close', () => feed.close())
  feed.open(() => {
    if (isScheduled || (isBlocked && !feed.wasCut)) return
    isScheduled = true
    flushInTurn(flush)
  })
}
