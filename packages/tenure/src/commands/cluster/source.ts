import { pollEvery } from '@tenure/runtime/cli'
import type { ClusterContext } from './context.ts'
import type { Databases } from './databases.ts'
import { type Lists, RequestedLists } from './lists.ts'
import { LiveLists } from './live-lists.ts'

/** Milliseconds between two reads of the rows of PostgreSQL by a command that watches. */
const DATABASE_POLL_MS = 2_000

export interface ListSource {
  readonly lists: Lists
  /** Resolves when something may have changed. */
  readonly changed: (signal: AbortSignal) => Promise<void>
  readonly close: () => Promise<void>
}

/** Requests, or caches if the command watches. `databases` are read again at intervals. */
export function sourceOf(
  { api, clock, random, signal }: ClusterContext,
  { watch = false }: { readonly watch?: boolean | undefined },
  databases?: Databases,
): ListSource {
  if (!watch) {
    return {
      lists: new RequestedLists(api),
      changed: pollEvery(clock, DATABASE_POLL_MS),
      close: () => closing(databases),
    }
  }
  const end = new AbortController()
  const lists = new LiveLists({ api, clock, random, signal: AbortSignal.any([signal, end.signal]) })
  return {
    lists,
    changed: (until) =>
      databases?.isNamed ? first(until, [(each) => lists.changed(each), poll]) : lists.changed(until),
    async close() {
      end.abort()
      await lists.whenStopped()
      await closing(databases)
    },
  }

  function poll(until: AbortSignal): Promise<void> {
    return pollEvery(clock, DATABASE_POLL_MS)(until)
  }
}

async function closing(databases: Databases | undefined): Promise<void> {
  await databases?.close()
}

/** Resolves with the first of them, and ends the others. */
async function first(signal: AbortSignal, waits: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const end = new AbortController()
  const both = AbortSignal.any([signal, end.signal])
  const waiting = waits.map((wait) => wait(both))
  try {
    await Promise.race(waiting)
  } finally {
    end.abort()
    await Promise.allSettled(waiting)
  }
}
