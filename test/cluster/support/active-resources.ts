import { until } from './until.ts'

/** The resources that a client or an informer could leave in the event loop. */
const TRACKED_TYPES = new Set([
  'TCPSocketWrap',
  'TLSWrap',
  'TCPServerWrap',
  'ConnectWrap',
  'Timeout',
  'GetAddrInfoReqWrap',
])

/** Counts the resources of each type that keep the event loop alive. */
export function activeResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) {
    if (TRACKED_TYPES.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/**
 * Waits until no timer is left, and no other resource that did not exist `before`, because closing takes a turn or two.
 * Timers are not compared with `before`: a foreign timer that has fired since would hide a leaked one.
 */
export async function untilNothingIsLeft(before: ReadonlyMap<string, number>): Promise<void> {
  const extra = (): string =>
    [...activeResources()]
      .filter(([name, count]) => name === 'Timeout' || count > (before.get(name) ?? 0))
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')
  await until(
    () => `the event loop is empty except for ${extra()}`,
    () => extra() === '',
    5_000,
  )
}
