import { until } from './until.ts'

/** What a client or an informer could leave behind in the event loop. */
const OURS = new Set(['TCPSocketWrap', 'TLSWrap', 'TCPServerWrap', 'ConnectWrap', 'Timeout', 'GetAddrInfoReqWrap'])

/** How many of each kind keep the event loop alive now. */
export function activeResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) {
    if (OURS.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/**
 * Waits until there is no timer at all, and nothing else that was not there `before`: what was closed may take a turn
 * or two to go. Timers are not held against those before, because a timer of others that has fired since would excuse
 * one that was left.
 */
export async function untilNothingIsLeft(before: ReadonlyMap<string, number>): Promise<void> {
  const extra = (): string =>
    [...activeResources()]
      .filter(([name, count]) => name === 'Timeout' || count > (before.get(name) ?? 0))
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')
  await until(
    () => `nothing is left in the event loop but ${extra()}`,
    () => extra() === '',
    5_000,
  )
}
