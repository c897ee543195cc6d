import type { Clock, Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { Storage, StoredObject } from '../storage/types.ts'

const BUCKET = 'events'
/** How long an event is kept after it was last written, as in the real server. */
const LIFETIME = 3_600_000
const INTERVAL = 300_000

interface Dated {
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly lastObservedTime?: string | null }
}

/** Forgets events after an hour: nobody deletes them, and they would fill any disk. Returns what ends that. */
export function expireEvents(storage: Storage, clock: Clock, log: Logger): () => void {
  let timer: Timer
  let isEnded = false
  const arm = (): void => {
    timer = clock.setTimer(INTERVAL, () => {
      if (isEnded) return
      void sweep(storage, clock.now() - LIFETIME).catch((error: unknown) =>
        log.error('Old events could not be removed', { error }),
      )
      arm()
    })
  }
  arm()
  return () => {
    isEnded = true
    timer.cancel()
  }
}

async function sweep(storage: Storage, before: number): Promise<void> {
  const old = [...storage.range(BUCKET)].filter((stored) => lastWritten(stored) < before)
  await Promise.all(old.map((stored) => forget(storage, stored)))
}

class Changed extends Error {}

/** One that was written or deleted meanwhile is left as it is. */
async function forget(storage: Storage, { key, revision }: StoredObject): Promise<void> {
  try {
    await storage.write(BUCKET, key, (current) => {
      if (current?.revision !== revision) throw new Changed()
      return { remove: true }
    })
  } catch (error) {
    if (!(error instanceof Changed)) throw error
  }
}

function lastWritten({ object }: StoredObject): number {
  const { lastTimestamp, eventTime, series } = object as Dated
  const times = [lastTimestamp, eventTime, series?.lastObservedTime, object.metadata.creationTimestamp]
  return Math.max(...times.map((time) => (time ? Date.parse(time) || 0 : 0)))
}
