import type { Clock, Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { Storage, StoredObject } from '../storage/types.ts'

const BUCKET = 'events'
/** Milliseconds for which an event is kept after its last write, as in kube-apiserver. */
const EVENT_LIFETIME_MS = 3_600_000
const SWEEP_INTERVAL_MS = 300_000

interface Dated {
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly lastObservedTime?: string | null }
}

/** Removes events after an hour, because no other component deletes them. Returns a function that ends this. */
export function expireEvents(storage: Storage, clock: Clock, log: Logger): () => void {
  let timer: Timer
  let isEnded = false
  const arm = (): void => {
    timer = clock.setTimer(SWEEP_INTERVAL_MS, () => {
      if (isEnded) return
      void sweep(storage, clock.now() - EVENT_LIFETIME_MS).catch((error: unknown) =>
        log.error('event expiry failed', { error }),
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

/** Removes an event unless it was written or deleted meanwhile. */
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
