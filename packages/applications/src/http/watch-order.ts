import { compareResourceVersions, type KubeObject } from '@tenure/kube'
import type { Informer, InformerEvent } from '@tenure/runtime'

/** So many own writes wait for the watch at most. */
const MOST_HELD = 10_000

/**
 * Calls `publish` for each change of an informer, in the order in which the API server made them. The informer itself
 * tells of our own writes before its watch brings what others wrote before them; who went on from the version of such a
 * write, with another process say, would never hear of those. So it waits until the watch is that far. Initial
 * objects are left out: what was there when we began is nothing that happens.
 */
export function inOrder<T extends KubeObject>(
  informer: Pick<Informer<T>, 'lastSyncResourceVersion' | 'onProgress' | 'subscribe'>,
  publish: (event: InformerEvent<T>) => void,
): void {
  /** By version. */
  const held: InformerEvent<T>[] = []
  const isSynced = (event: InformerEvent<T>): boolean => {
    const current = informer.lastSyncResourceVersion
    return current !== undefined && compareResourceVersions(versionOf(event), current) <= 0
  }
  let last = informer.lastSyncResourceVersion
  const release = (): void => {
    // The server went back in time: what is held never happened there.
    const current = informer.lastSyncResourceVersion
    if (last !== undefined && current !== undefined && compareResourceVersions(current, last) < 0) held.length = 0
    last = current
    while (held[0] && (held.length > MOST_HELD || isSynced(held[0]))) {
      const event = held.shift()
      if (event) publish(event)
    }
  }
  informer.onProgress(release)
  informer.subscribe((event) => {
    if (event.type === 'added' && event.initial) return
    if (isSynced(event)) {
      const whole = completed(event, held)
      release()
      publish(whole)
    } else {
      const at = held.findLastIndex((other) => compareResourceVersions(versionOf(other), versionOf(event)) <= 0)
      held.splice(at + 1, 0, event)
      release()
    }
  })
}

/** Of a write that we knew in part only, the watch brings the whole: it takes the place of what is held of it. */
function completed<T extends KubeObject>(event: InformerEvent<T>, held: InformerEvent<T>[]): InformerEvent<T> {
  if (event.type !== 'modified' || event.old.metadata.resourceVersion !== versionOf(event)) return event
  const at = held.findIndex((other) => other.object === event.old)
  const [part] = at < 0 ? [] : held.splice(at, 1)
  return part ? { ...part, object: event.object } : event
}

function versionOf({ object }: InformerEvent<KubeObject>): string {
  return object.metadata.resourceVersion
}
