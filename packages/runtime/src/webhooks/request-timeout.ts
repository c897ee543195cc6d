import { parseDuration } from '../time/duration.ts'

/**
 * The `?timeout=10s` that the API server adds to its calls, in milliseconds. Undefined if it is missing, invalid or not
 * positive.
 */
export function requestTimeout(query: string): number | undefined {
  const text = new URLSearchParams(query).get('timeout')
  if (text === null) return undefined
  try {
    const timeout = parseDuration(text)
    return timeout > 0 ? timeout : undefined
  } catch {
    return undefined
  }
}
