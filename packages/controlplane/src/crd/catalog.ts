import type { JsonObject } from '@tenure/kube/model'
import { asString, valueAtPath } from '@tenure/kube/model'

import { BUCKET } from '../model/custom-resource-definition.ts'
import type { ResourceCatalog, ResourceDefinition } from '../registry/types.ts'
import type { Storage } from '../storage/types.ts'
import { definitionsOf } from './definition.ts'
import type { SchemaEpoch } from './stored-object-reader.ts'

const keyOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`

interface Served {
  readonly source: JsonObject
  readonly epoch: SchemaEpoch
  readonly definitions: readonly ResourceDefinition[]
}

/** The built-in resources and those of the stored CustomResourceDefinitions. A built-in resource takes precedence. */
export class CrdCatalog implements ResourceCatalog {
  readonly #builtIn: readonly ResourceDefinition[]
  readonly #builtInKeys = new Map<string, ResourceDefinition>()
  /** By the name of the CRD. */
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

  /** Serves the stored definitions and follows their changes. Returns a function that stops it. */
  follow(storage: Storage): () => void {
    for (const { object } of storage.range(BUCKET)) this.#put(object as unknown as JsonObject)
    this.#rebuild()
    return storage.watch(BUCKET, storage.revision, ({ previous, current }) => {
      if (current) this.put(current.object as unknown as JsonObject)
      else if (previous) this.remove(previous.object.metadata.name)
    })
  }

  /** Serves a CRD. Listeners are called only if the served resources change. */
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
    const epoch =
      before && isSameEpoch(before.source, crd)
        ? before.epoch
        : { since: Number(valueAtPath(crd, 'metadata', 'resourceVersion')) }
    const definitions = definitionsOf(crd, epoch).filter(
      ({ group, version, plural }) => !this.#builtInKeys.has(keyOf(group, version, plural)),
    )
    this.#custom.set(name, { source: crd, epoch, definitions })
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

/** Deleting a definition does not change the schema of its objects. */
function isSameEpoch(before: JsonObject, after: JsonObject): boolean {
  const isSame = (...path: readonly string[]): boolean =>
    JSON.stringify(valueAtPath(before, ...path)) === JSON.stringify(valueAtPath(after, ...path))
  return isSame('metadata', 'uid') && isSame('spec') && isSame('status', 'acceptedNames')
}

/** Labels, annotations and managedFields do not affect the served resources. */
function servesTheSame(before: JsonObject, after: JsonObject): boolean {
  if (before['spec'] !== after['spec'] && JSON.stringify(before['spec']) !== JSON.stringify(after['spec'])) return false
  if (JSON.stringify(before['status']) !== JSON.stringify(after['status'])) return false
  return valueAtPath(before, 'metadata', 'deletionTimestamp') === valueAtPath(after, 'metadata', 'deletionTimestamp')
}
