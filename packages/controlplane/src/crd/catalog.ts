import type { JsonObject } from '@tenure/kube/model'
import { asString, valueAtPath } from '@tenure/kube/model'

import { BUCKET } from '../model/custom-resource-definition.ts'
import type { ResourceCatalog, ResourceDefinition } from '../registry/types.ts'
import type { Storage } from '../storage/types.ts'
import { definitionsOf } from './definition.ts'
import type { Era } from './reading.ts'

const keyOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`

interface Served {
  readonly source: JsonObject
  readonly era: Era
  readonly definitions: readonly ResourceDefinition[]
}

/**
 * Built-in resources, and those of the CustomResourceDefinitions that are stored, as they come and go. A built-in one
 * wins over a custom one of the same name.
 */
export class CrdCatalog implements ResourceCatalog {
  readonly #builtIn: readonly ResourceDefinition[]
  readonly #builtInKeys = new Map<string, ResourceDefinition>()
  /** By the name of the CRD, in order of names. */
  readonly #custom = new Map<string, Served>()
  readonly #listeners = new Set<() => void>()
  #byKey: ReadonlyMap<string, ResourceDefinition>
  #all: readonly ResourceDefinition[]

  constructor(builtIn: readonly ResourceDefinition[]) {
    this.#builtIn = builtIn
    for (const one of builtIn) this.#builtInKeys.set(keyOf(one.group, one.version, one.plural), one)
    this.#byKey = this.#builtInKeys
    this.#all = builtIn
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byKey.get(keyOf(group, version, plural))
  }

  all(): readonly ResourceDefinition[] {
    return this.#all
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Serves what is stored, and keeps up with it. Returns what ends that. */
  follow(storage: Storage): () => void {
    for (const { object } of storage.range(BUCKET)) this.#put(object as unknown as JsonObject)
    this.#rebuild()
    return storage.watch(BUCKET, storage.revision, ({ previous, current }) => {
      if (current) this.put(current.object as unknown as JsonObject)
      else if (previous) this.remove(previous.object.metadata.name)
    })
  }

  /** Serves a CRD as it is now. One that serves the same as before changes nothing. */
  put(crd: JsonObject): void {
    if (this.#put(crd)) this.#rebuild()
  }

  remove(name: string): void {
    const had = this.#custom.get(name)
    this.#custom.delete(name)
    if (had && had.definitions.length > 0) this.#rebuild()
  }

  #put(crd: JsonObject): boolean {
    const name = asString(valueAtPath(crd, 'metadata', 'name'))
    const before = this.#custom.get(name)
    if (before && servesTheSame(before.source, crd)) return false
    const era =
      before && isSameEra(before.source, crd)
        ? before.era
        : { since: Number(valueAtPath(crd, 'metadata', 'resourceVersion')) }
    const definitions = definitionsOf(crd, era).filter(
      ({ group, version, plural }) => !this.#builtInKeys.has(keyOf(group, version, plural)),
    )
    this.#custom.set(name, { source: crd, era, definitions })
    return definitions.length > 0 || (before?.definitions.length ?? 0) > 0
  }

  #rebuild(): void {
    const custom = [...this.#custom]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, { definitions }]) => definitions)
    const byKey = new Map(this.#builtInKeys)
    for (const one of custom) byKey.set(keyOf(one.group, one.version, one.plural), one)
    this.#byKey = byKey
    this.#all = [...this.#builtIn, ...custom]
    for (const listener of this.#listeners) listener()
  }
}

/** A definition that is on its way out still has the same objects, in the same form. */
function isSameEra(before: JsonObject, after: JsonObject): boolean {
  const isSame = (...path: readonly string[]): boolean =>
    JSON.stringify(valueAtPath(before, ...path)) === JSON.stringify(valueAtPath(after, ...path))
  return isSame('metadata', 'uid') && isSame('spec') && isSame('status', 'acceptedNames')
}

/** Labels, annotations and managedFields may change without a change in what is served. */
function servesTheSame(before: JsonObject, after: JsonObject): boolean {
  if (before['spec'] !== after['spec'] && JSON.stringify(before['spec']) !== JSON.stringify(after['spec'])) return false
  if (JSON.stringify(before['status']) !== JSON.stringify(after['status'])) return false
  return valueAtPath(before, 'metadata', 'deletionTimestamp') === valueAtPath(after, 'metadata', 'deletionTimestamp')
}
