import { keyOf, type Kind, type KubeObject, type ObjectRef, refTo, type Stored } from '@tenure/kube'
import type { AppliedRecords } from '../actions/applied-records.ts'
import { controllerOf } from '../actions/desired.ts'
import type { NameConflicts } from '../actions/name-conflicts.ts'
import type { StatusEchoes } from '../actions/status-echoes.ts'
import type { InformerEvent } from '../informer/types.ts'
import { PRIORITY, type WorkQueue } from '../queue/index.ts'
import type { DeclaredKinds, Source } from './declared-kinds.ts'
import type { ControllerDefinition } from './definition.ts'
import type { Expirer } from './expirer.ts'
import { ownersOf } from './mapping.ts'
import { isMetadataChanged } from './predicates.ts'

export interface SourcesOptions {
  readonly definition: ControllerDefinition
  readonly kinds: DeclaredKinds
  readonly queue: WorkQueue
  readonly records: AppliedRecords
  readonly nameConflicts: NameConflicts
  readonly statusEchoes: StatusEchoes
  readonly expirer: Expirer | undefined
  readonly onDeleted: (key: string) => void
}

/** Turns events of all declared kinds into keys of the controller's objects. */
export class Subscriptions {
  readonly #options: SourcesOptions
  readonly #ends: (() => void)[] = []

  constructor(options: SourcesOptions) {
    this.#options = options
    for (const source of options.kinds.sources) this.add(source)
  }

  add(source: Source): void {
    this.#ends.push(source.informer.subscribe(handlerFor(source, this.#options)))
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end()
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
    expirer,
    records,
    nameConflicts,
    onDeleted,
    statusEchoes,
  }: SourcesOptions): (event: InformerEvent<KubeObject>) => void {
    /** The watch event of an own status write must not cut a backoff short. */
    const isOwnStatusWrite = (event: InformerEvent<KubeObject>, key: string): boolean => {
      const { object } = event
      const isLast = records.isLastStatus(definition.kind, key, object)
      if (!isLast && !statusEchoes.isUnderWay(key)) return false
      return isStatusChange(event) && (isLast || statusEchoes.hold(key, object.metadata.resourceVersion))
    }
    return (event) => {
      const key = keyOf(event.object.metadata)
      if (event.type === 'deleted') {
        expirer?.forget(key)
        records.forget(definition.kind, key)
        nameConflicts.forget(key)
        onDeleted(key)
        queue.add(key, priorityOf(event))
        return
      }
      expirer?.observe(key, event.object)
      let counts = true
      try {
        counts = isRelevant(event) && !isOwnStatusWrite(event, key)
      } finally {
        // If the predicate throws, which the informer reports, the key is added: an extra reconcile does no harm.
        if (counts) queue.add(key, priorityOf(event))
      }
    }
  }

  function isRelevant(event: Exclude<InformerEvent<KubeObject>, { type: 'deleted' }>): boolean {
    return definition.predicate?.(event.object, event.type === 'modified' ? event.old : undefined) ?? true
  }
}

/** True if only the status changed. */
function isStatusChange(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'modified') return false
  const { object, old } = event
  return object.metadata.generation === old.metadata.generation && !isMetadataChanged(object, old)
}

function mappedHandler(
  { queue, records, nameConflicts }: SourcesOptions,
  kind: Kind,
  map: (object: Stored<KubeObject>) => Iterable<ObjectRef>,
): (event: InformerEvent<KubeObject>) => void {
  return (event) => {
    const priority = priorityOf(event)
    const child = keyOf(refTo(event.object))
    if (event.type === 'deleted') records.forget(kind, child)
    if (isReleased(event)) for (const key of nameConflicts.clear(kind, child)) queue.add(key, priority)
    for (const ref of map(event.object)) queue.add(keyOf(ref), priority)
    // Objects that it concerned before may be affected as well.
    if (event.type === 'modified') for (const ref of map(event.old)) queue.add(keyOf(ref), priority)
  }
}

/** True if the object is gone or its controller changed. */
function isReleased(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'modified') return event.type === 'deleted'
  return controllerOf(event.old)?.uid !== controllerOf(event.object)?.uid
}

function priorityOf(event: InformerEvent<KubeObject>): number {
  return event.type === 'added' && event.initial ? PRIORITY.low : PRIORITY.normal
}
