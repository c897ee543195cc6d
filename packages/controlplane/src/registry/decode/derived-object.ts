import type { KubeObject, Stored } from '@tenure/kube'
import type { StoredObject } from '../../storage/types.ts'
import { apiVersionOf } from './decode.ts'
import { orderMetadata } from '../metadata/metadata.ts'
import type { ResourceDefinition } from '../types.ts'

/** A stored object in another version of its kind, or its last state under a later revision. */
class Derived implements StoredObject {
  readonly key: string
  readonly revision: number
  readonly object: Stored<KubeObject>
  #json: string | undefined

  constructor(key: string, revision: number, object: Stored<KubeObject>) {
    this.key = key
    this.revision = revision
    this.object = object
  }

  get apiVersion(): string {
    return this.object.apiVersion ?? ''
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.object))
  }
}

const versions = new WeakMap<ResourceDefinition, WeakMap<StoredObject, StoredObject>>()

/**
 * The object as it is served: in the requested version and, if it was stored under another schema, with the current
 * defaults and fields.
 */
export function inVersion(stored: StoredObject, definition: ResourceDefinition): StoredObject {
  const { storedReader } = definition
  const apiVersion = apiVersionOf(definition)
  const isInVersion = stored.apiVersion === apiVersion
  if (isInVersion && (storedReader === undefined || stored.revision >= storedReader.beforeRevision)) return stored
  // It is already derived.
  if (isInVersion && stored instanceof Derived) return stored
  let known = versions.get(definition)
  if (!known) versions.set(definition, (known = new WeakMap()))
  let served = known.get(stored)
  if (!served) known.set(stored, (served = derive(stored, definition, apiVersion)))
  return served
}

function derive(stored: StoredObject, definition: ResourceDefinition, apiVersion: string): StoredObject {
  const { conversion, kind, storedReader } = definition
  const before = stored.object
  const read = storedReader?.read(before) ?? conversion?.fromStored(before) ?? before
  if (read === before && before.apiVersion === apiVersion) return stored
  return new Derived(stored.key, stored.revision, { ...read, kind, apiVersion } as Stored<KubeObject>)
}

/** The object that selectors and deletions use: for built-in kinds as it is stored. */
export function asRead(stored: StoredObject, definition: ResourceDefinition): StoredObject {
  return definition.storedReader ? inVersion(stored, definition) : stored
}

const departed = new WeakMap<StoredObject, StoredObject>()

/** The state in which an object left a selection, with the revision at which it did. */
export function leftSelectionAt(previous: StoredObject, revision: number): StoredObject {
  const known = departed.get(previous)
  if (known?.revision === revision) return known
  const made = new Derived(previous.key, revision, {
    ...previous.object,
    metadata: orderMetadata({
      ...previous.object.metadata,
      resourceVersion: String(revision),
    }) as Stored<KubeObject>['metadata'],
  })
  departed.set(previous, made)
  return made
}

/** For objects that are returned but not stored: dry runs. */
export function unstored(key: string, object: Stored<KubeObject>): StoredObject {
  return new Derived(key, 0, object)
}
