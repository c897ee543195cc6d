import type { KubeObject, Stored } from '@tenure/kube'
import { forgetParsed, noteParsed } from './recently-parsed.ts'
import type { StoredObject } from '../types.ts'

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
  /** Among what was parsed recently. */
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

  /** What `json` of another version said, its resourceVersion being in it. */
  static ofJson(key: string, revision: number, json: string): Version {
    return new Version(key, revision, undefined, json)
  }

  get object(): Stored<KubeObject> {
    if (this.#object) return this.#object
    // First, as it may be this one that has been in the way for longest.
    this.#place = noteParsed(this)
    return (this.#object = JSON.parse(this.#json ?? '') as Stored<KubeObject>)
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.#object))
  }

  /** In characters of JSON; 0 as long as there is none, which what is on disk always has. */
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

  /** Keeps nothing of its own: all of it can be made again from the state before. */
  fold(): void {
    this.#object = undefined
    this.#json = undefined
    forgetParsed(this, this.#place)
  }
}

/** As everything is written here, kind and apiVersion come first. Undefined: it was not written here. */
function apiVersionIn(json: string): string | undefined {
  return /^\{"kind":"[^"\\]*","apiVersion":"([^"\\]*)"/.exec(json)?.[1]
}

// A spread keeps an own `__proto__` key as the plain key that it is.
function withRevision(object: KubeObject, revision: number): Stored<KubeObject> {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } } as Stored<KubeObject>
}
