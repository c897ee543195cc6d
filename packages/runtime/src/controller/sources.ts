import { keyOf, type Kind, type KubeObject, type ObjectRef, refTo, type Stored } from '@tenure/kube'
import type { AppliedRecords } from '../actions/applied-records.ts'
import { controllerOf } from '../actions/desired.ts'
import type { Obstacles } from '../actions/name-conflicts.ts'
import type { InformerEvent } from '../informer/types.ts'
import { PRIORITY, type WorkQueue } from '../queue/index.ts'
import type { DeclaredKinds, Source } from './declared-kinds.ts'
import type { ControllerDefinition } from './definition.ts'
import { ownersOf } from './mapping.ts'

export interface SourcesOptions {
  readonly definition: ControllerDefinition
  readonly kinds: DeclaredKinds
  readonly queue: WorkQueue
  readonly records: AppliedRecords
  readonly obstacles: Obstacles
  readonly onDeleted: (key: string) => void
}

/** Turns events of all declared kinds into keys of the controller's objects. Returns what ends that. */
export function subscribe(options: SourcesOptions): () => void {
  const ends = options.kinds.sources.map((source) => source.informer.subscribe(handlerFor(source, options)))
  return () => {
    for (const end of ends) end()
  }
}

function handlerFor(source: Source, options: SourcesOptions): (event: InformerEvent<KubeObject>) => void {
  const { definition, kinds, queue } = options
  switch (source.role) {
    case 'primary':
      return primaryHandler(options)
    case 'owned':
      return mappedHandler(options, source.informer.kind, (object) => ownersOf(object, definition.kind))
    default:
      return mappedHandler(options, source.informer.kind, (object) => source.watch.map(object, kinds.primary.cache))
  }

  function primaryHandler({
    records,
    obstacles,
    onDeleted,
  }: SourcesOptions): (event: InformerEvent<KubeObject>) => void {
    return (event) => {
      const key = keyOf(event.object.metadata)
      if (event.type === 'deleted') {
        records.forget(definition.kind, key)
        obstacles.forget(key)
        onDeleted(key)
      }
      let counts = true
      try {
        if (event.type === 'modified') counts = definition.changed?.(event.old, event.object) ?? true
      } finally {
        // Also if the function throws, which is reported: a look too many does no harm.
        if (counts) queue.add(key, priorityOf(event))
      }
    }
  }
}

function mappedHandler(
  { queue, records, obstacles }: SourcesOptions,
  kind: Kind,
  map: (object: Stored<KubeObject>) => Iterable<ObjectRef>,
): (event: InformerEvent<KubeObject>) => void {
  return (event) => {
    const priority = priorityOf(event)
    const child = keyOf(refTo(event.object))
    if (event.type === 'deleted') records.forget(kind, child)
    if (hasLetGo(event)) for (const key of obstacles.clear(kind, child)) queue.add(key, priority)
    for (const ref of map(event.object)) queue.add(keyOf(ref), priority)
    // Whom it concerned before may have to make up for it.
    if (event.type === 'modified') for (const ref of map(event.old)) queue.add(keyOf(ref), priority)
  }
}

/** It is gone, or its controller is another than before, or none. */
function hasLetGo(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'modified') return event.type === 'deleted'
  return controllerOf(event.old)?.uid !== controllerOf(event.object)?.uid
}

function priorityOf(event: InformerEvent<KubeObject>): number {
  return event.type === 'added' && event.initial ? PRIORITY.low : PRIORITY.normal
}
