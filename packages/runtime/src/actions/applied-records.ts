import { hash } from 'node:crypto'
import type { Kind, KubeObject, ManagedFieldsEntry, Stored } from '@tenure/kube'
import { type OwnedFields, isApplied, projection } from './field-set.ts'
import type { JsonObject } from '@tenure/kube/model'

/** One applied object: the desired object, and the state of its owned fields when the server had it. */
interface Applied {
  readonly desired: string
  readonly live: string
  uid: string
  resourceVersion: string
}

/**
 * Knows whether an apply would change anything, so that a steady state costs no request. There are two proofs:
 * - the managedFields entry and the live values show it: this needs no memory and holds after a restart;
 * - the same object was applied before, and the owned fields have not changed since: this also covers values that the
 *   server rewrites.
 */
export class AppliedRecords {
  readonly #manager: string
  readonly #records = new Map<string, Applied>()

  constructor(fieldManager: string) {
    this.#manager = fieldManager
  }

  get size(): number {
    return this.#records.size
  }

  /** `kind` in the representation in which it is cached. */
  isUnchanged(kind: Kind, key: string, subresource: string, desired: KubeObject, live: Stored<KubeObject>): boolean {
    const id = recordId(kind, key, subresource)
    const record = this.#records.get(id)
    const wanted = digest(JSON.stringify(desired))
    const { uid, resourceVersion } = live.metadata
    if (record?.desired === wanted && record.uid === uid) {
      if (record.resourceVersion === resourceVersion) return true
      if (record.live === this.#look(kind, live, subresource)) {
        record.resourceVersion = resourceVersion
        return true
      }
    }
    const fields = this.#fields(kind, live, subresource)
    if (fields === undefined || !isApplied(fields, asMap(desired), asMap(live), isBuiltIn(kind))) return false
    this.#records.set(id, { desired: wanted, live: this.#look(kind, live, subresource), uid, resourceVersion })
    return true
  }

  /** `stored` is the result of applying `desired`. */
  applied(kind: Kind, key: string, subresource: string, desired: KubeObject, stored: Stored<KubeObject>): void {
    this.#records.set(recordId(kind, key, subresource), {
      desired: digest(JSON.stringify(desired)),
      live: this.#look(kind, stored, subresource),
      uid: stored.metadata.uid,
      resourceVersion: stored.metadata.resourceVersion,
    })
  }

  /** True if this is the object as the last write of its status left it. */
  isLastStatus(kind: Kind, key: string, object: Stored<KubeObject>): boolean {
    return this.#records.get(recordId(kind, key, 'status'))?.resourceVersion === object.metadata.resourceVersion
  }

  /** Drops the records of a deleted object. */
  forget(kind: Kind, key: string): void {
    this.#records.delete(recordId(kind, key, ''))
    this.#records.delete(recordId(kind, key, 'status'))
  }

  #fields(kind: Kind, live: Stored<KubeObject>, subresource: string): OwnedFields | undefined {
    const entry = live.metadata.managedFields?.find(
      (entry: ManagedFieldsEntry) =>
        entry.manager === this.#manager &&
        entry.operation === 'Apply' &&
        entry.apiVersion === kind.apiVersion &&
        (entry.subresource ?? '') === subresource,
    )
    return entry?.fieldsV1
  }

  #look(kind: Kind, live: Stored<KubeObject>, subresource: string): string {
    const fields = this.#fields(kind, live, subresource)
    if (fields === undefined) return ''
    if (kind.representation === 'full') return digest(projection(fields, live))
    // For an object cached as metadata, only the generation reveals a change of its spec.
    const { metadata } = live
    return digest(`${String(metadata.generation)} ${projection(fields, { metadata })}`)
  }
}

/** True for groups without a dot and those of k8s.io: the server defines their types. */
function isBuiltIn({ group }: Kind): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io')
}

function recordId(kind: Kind, key: string, subresource: string): string {
  return `${kind.group}/${kind.plural}/${subresource}/${key}`
}

// 160 bits in 28 characters instead of the whole text of every object; collisions are not security-relevant.
function digest(text: string): string {
  return hash('sha1', text, 'base64')
}

function asMap(object: KubeObject): JsonObject {
  return object as JsonObject
}
