import { compareResourceVersions, type KubeObject } from '@tenure/kube'
import type { Informer, InformerEvent } from '@tenure/runtime'

/** Maximum number of own writes that wait for the watch. */
const MAX_HELD_EVENTS = 10_000

/**
 * Calls `publish` for each change of an informer in the order of resourceVersions. The informer reports this process's
 * own writes before its watch delivers older writes of others. A client that resumed from such a version at another
 * replica would miss those, so that own writes are held until the watch has passed them. Initial objects are not changes.
 */
export function publishInOrder<T extends KubeObject>(
  informer: Pick<Informer<T>, 'lastSyncResourceVersion' | 'onProgress' | 'subscribe'>,
  publish: (event: InformerEvent<T>) => void,
): void {
  /** Ordered by resourceVersion. */
  const held: InformerEvent<T>[] = []
  const isSynced = (event: InformerEvent<T>): boolean => {
    const current = informer.lastSyncResourceVersion
    return current !== undefined && compareResourceVersions(versionOf(event), current) <= 0
  }
  let last = informer.lastSyncResourceVersion
  const release = (): void => {
    // The server was restored to an older state, in which the held writes do not exist.
    const current = informer.lastSyncResourceVersion
    if (last !== undefined && current !== undefined && compareResourceVersions(current, last) < 0) held.length = 0
    last = current
    while (held[0] && (held.length > MAX_HELD_EVENTS || isSynced(held[0]))) {
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

/** The informer may know an own write in part only; the whole object from the watch replaces the held one. */
function completed<T extends KubeObject>(event: InformerEvent<T>, held: InformerEvent<T>[]): InformerEvent<T> {
  if (event.type !== 'modified' || event.old.metadata.resourceVersion !== versionOf(event)) return event
  const at = held.findIndex((other) => other.object === event.old)
  const [part] = at < 0 ? [] : held.splice(at, 1)
  return part ? { ...part, object: event.object } : event
}

function versionOf({ object }: InformerEvent<KubeObject>): string {
  return object.metadata.resourceVersion
}
