import { rfc3339 } from '@tenure/runtime'

export { ceilSecond, floorSecond, parseTime, parseTimeOrDate } from '@tenure/runtime'

/** The first millisecond that RFC 3339 cannot represent. */
const END_OF_TIME = Date.UTC(10_000, 0, 1)

/** Whether RFC 3339 can represent this time. */
export function isWritable(milliseconds: number): boolean {
  return milliseconds < END_OF_TIME
}

let lastTime = Number.NaN
let lastText = ''

/** Formats a time as annotations have it: RFC 3339, UTC, whole seconds. Caches the last result, which is usually asked for again. */
export function formatTime(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastText = rfc3339(milliseconds)
    lastTime = milliseconds
  }
  return lastText
}
