import type { KubeObject, Stored } from '@tenure/kube'
import type { StoredObject } from './types.ts'

/**
 * One version of an object, of which the parsed form, the JSON or both are there: what comes from disk is parsed when
 * it is first read, what was written is turned into JSON when it is first sent.
 */
export class Version implements StoredObject {
  readonly key: string
  readonly revision: number
  /** The state before this one, as long as history needs it. Set and cut by the view that holds it. */
  older: Version | Tombstone | undefined
  #object: Stored<KubeObject> | undefined
  #json: string | undefined

  private constructor(key: string, revision: number, object: Stored<KubeObject> | undefined, json: string | undefined) {
    this.key = key
    this.revision = revision
    this.older = undefined
    this.#object = object
    this.#json = json
  }

  /** `object` as written by `revision`. */
  static ofObject(key: string, revision: number, object: KubeObject): Version {
    return new Version(key, revision, withRevision(object, revision), undefined)
  }

  /** What `json` of another version said, its resourceVersion being in it. */
  static ofJson(key: string, revision: number, json: string): Version {
    return new Version(key, revision, undefined, json)
  }

  get object(): Stored<KubeObject> {
    return (this.#object ??= JSON.parse(this.#json ?? '') as Stored<KubeObject>)
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.#object))
  }

  /** Keeps the JSON only, if it is there: history is rarely read, and the parsed form is the larger half. */
  fold(): void {
    if (this.#json !== undefined) this.#object = undefined
  }
}

/** A deletion: the last state, with the revision of the deletion. */
export class Tombstone implements StoredObject {
  readonly key: string
  readonly revision: number
  readonly older: Version
  #object: Stored<KubeObject> | undefined
  #json: string | undefined

  constructor(revision: number, last: Version) {
    this.key = last.key
    this.revision = revision
    this.older = last
    this.#object = undefined
    this.#json = undefined
  }

  get object(): Stored<KubeObject> {
    return (this.#object ??= withRevision(this.older.object, this.revision))
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.object))
  }
}

// A spread keeps an own `__proto__` key as the plain key that it is.
function withRevision(object: KubeObject, revision: number): Stored<KubeObject> {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } } as Stored<KubeObject>
}
