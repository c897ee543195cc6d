import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers'
import type { ListBody } from '../encoding/list-body.ts'
import type { WatchFeed } from '../watch/watch-feed.ts'

/** About as much of a watch as is written at a time. */
const WATCH_CHUNK = 64 * 1024
/** Of 16 lists at once, larger pieces take more memory and no less time. */
const LIST_CHUNK = 64 * 1024
const PIECES_AT_A_TIME = 2
/** Buffers of lists that have been sent, for the next ones: 2 MB. */
const MOST_SPARE = 32
/** So many watches are written to before the event loop gets its turn: requests are not kept waiting by a thousand of them. */
const WATCHES_PER_TURN = 256

const spare: Buffer[] = []

/** Writes a list, two pieces at a time: while one is on its way, the next is there for the socket. */
export function sendList(list: ListBody, out: Writable): void {
  let writers = PIECES_AT_A_TIME
  const write = (): void => {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(LIST_CHUNK)
    const next = (error?: Error | null): void => {
      // It may still be in use by a connection that broke: then it is not used again.
      if (error || out.destroyed) return
      const size = list.fill(buffer)
      if (size > 0) {
        out.write(buffer.subarray(0, size), next)
        return
      }
      if (spare.length < MOST_SPARE) spare.push(buffer)
      if (--writers === 0) out.end()
    }
    next()
  }
  for (let writer = 0; writer < PIECES_AT_A_TIME; writer++) write()
}

let waiting: (() => void)[] = []

/** Watches with something to write take turns: what comes for one in the meantime goes along. */
function inTurn(flush: () => void): void {
  if (waiting.push(flush) === 1) nextTurn(flushSome)
}

function flushSome(): void {
  const turn = waiting
  waiting = turn.splice(WATCHES_PER_TURN)
  if (waiting.length > 0) nextTurn(flushSome)
  for (const flush of turn) flush()
}

/** Writes a watch as fast as its reader takes it; what comes in one turn goes in one piece. `cut` ends it at once. */
export function sendWatch(feed: WatchFeed, out: Writable, cut: () => void): void {
  let isBlocked = false
  let isScheduled = false
  const flush = (): void => {
    isScheduled = false
    while (!isBlocked && !out.destroyed) {
      const chunk = feed.take(WATCH_CHUNK)
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
    inTurn(flush)
  })
}
