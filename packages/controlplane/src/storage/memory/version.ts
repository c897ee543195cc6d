import type { KubeObject, Stored } from '@tenure/kube'
import { forgetParsed, noteParsed } from './recently-parsed.ts'
import type { StoredObject } from '../types.ts'

/**
 * One version of an object, held as parsed form, JSON or both: a version from disk is parsed when it is first read, a
 * written one becomes JSON when it is first sent.
 */
export class Version implements StoredObject {
  readonly key: string
  readonly revision: number
  /** The previous state, while history needs it. The view that holds it sets and clears it. */
  older: Version | Tombstone | undefined
  #object: Stored<KubeObject> | undefined
  #json: string | undefined
  /** Slot among the recently parsed versions. */
  #place = -1

  private constructor(key: string, revision: number, object: Stored<KubeObject> | undefined, json: string | undefined) {
    this.key = key
    this.revision = revision
    this.older = undefined
    this.#object = object
    this.#json = json
  }

  /** `object` as written by `revision`. */
  static ofObject(key: string, revision: number, object: KubeObject): Version {
    const version = new Version(key, revision, withRevision(object, revision), undefined)
    version.#place = noteParsed(version)
    return version
  }

  /** A version from its JSON, which includes the resourceVersion. */
  static ofJson(key: string, revision: number, json: string): Version {
    return new Version(key, revision, undefined, json)
  }

  get object(): Stored<KubeObject> {
    if (this.#object) return this.#object
    // Registered first, because this version itself may be the one that is evicted.
    this.#place = noteParsed(this)
    return (this.#object = JSON.parse(this.#json ?? '') as Stored<KubeObject>)
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.#object))
  }

  /** Characters of JSON; 0 if there is none, which every version on disk has. */
  get size(): number {
    return this.#json?.length ?? 0
  }

  get apiVersion(): string {
    return this.#object?.apiVersion ?? apiVersionIn(this.#json ?? '') ?? this.object.apiVersion ?? ''
  }

  fold(): void {
    if (this.#json !== undefined) this.#object = undefined
    forgetParsed(this, this.#place)
  }
}

/** A deletion: the last state, with the revision of the deletion. */
export class Tombstone implements StoredObject {
  readonly key: string
  readonly revision: number
  readonly older: Version
  #object: Stored<KubeObject> | undefined
  #json: string | undefined
  #place = -1

  constructor(revision: number, last: Version) {
    this.key = last.key
    this.revision = revision
    this.older = last
    this.#object = undefined
    this.#json = undefined
  }

  get object(): Stored<KubeObject> {
    if (this.#object) return this.#object
    const last = this.older.object
    this.#place = noteParsed(this)
    return (this.#object = withRevision(last, this.revision))
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.object))
  }

  get apiVersion(): string {
    return this.older.apiVersion
  }

  /** The whole state can be rebuilt from the version before. */
  fold(): void {
    this.#object = undefined
    this.#json = undefined
    forgetParsed(this, this.#place)
  }
}

/** The apiVersion in JSON written here, where kind and apiVersion come first. Undefined for JSON of other origin. */
function apiVersionIn(json: string): string | undefined {
  return /^\{"kind":"[^"\\]*","apiVersion":"([^"\\]*)"/.exec(json)?.[1]
}

// A spread keeps an own `__proto__` key as an ordinary key.
function withRevision(object: KubeObject, revision: number): Stored<KubeObject> {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } } as Stored<KubeObject>
}
