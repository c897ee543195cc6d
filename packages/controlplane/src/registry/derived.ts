import type { KubeObject, Stored } from '@tenure/kube'
import type { StoredObject } from '../storage/types.ts'
import { apiVersionOf } from './decode.ts'
import { orderMetadata } from './metadata.ts'
import type { ResourceDefinition } from './types.ts'

/** A stored object in another guise: another version of its kind, or a last state under a later revision. */
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

const versions = new WeakMap<StoredObject, Map<string, StoredObject>>()

/** The object as the version that was asked for: most differ in nothing but the apiVersion. */
export function inVersion(stored: StoredObject, definition: ResourceDefinition): StoredObject {
  const apiVersion = apiVersionOf(definition)
  if (stored.apiVersion === apiVersion) return stored
  let others = versions.get(stored)
  if (!others) versions.set(stored, (others = new Map()))
  let other = others.get(apiVersion)
  if (!other) {
    const converted = definition.conversion?.fromStored(stored.object) ?? stored.object
    const object = { ...converted, kind: definition.kind, apiVersion } as Stored<KubeObject>
    other = new Derived(stored.key, stored.revision, object)
    others.set(apiVersion, other)
  }
  return other
}

const departed = new WeakMap<StoredObject, StoredObject>()

/** The state in which an object left a selection, under the revision at which it did. */
export function departedAt(previous: StoredObject, revision: number): StoredObject {
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

/** For what is answered but not stored: dry runs. */
export function unstored(key: string, object: Stored<KubeObject>): StoredObject {
  return new Derived(key, 0, object)
}
