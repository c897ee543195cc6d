import { compareResourceVersions } from '@tenure/kube'

/**
 * Ids of the frames of `/watch`: the resourceVersion of the change, or, where that would repeat an earlier id, the latest
 * one and a number: `17.1`. The informer reports a deletion by this process, and one that it missed, with the last
 * version of the object, which an earlier frame had. A client may resume from either form at any replica.
 */
export class WatchIds {
  #latest: string | undefined
  #repeats = 0

  /** resourceVersion up to which all changes have ids; undefined before the first. */
  get latest(): string | undefined {
    return this.#latest
  }

  next(resourceVersion: string): string {
    if (this.#latest !== undefined && compareResourceVersions(resourceVersion, this.#latest) <= 0) {
      return `${this.#latest}.${++this.#repeats}`
    }
    this.#latest = resourceVersion
    this.#repeats = 0
    return resourceVersion
  }
}

/** Whether a text is an id. */
export function isWatchId(text: string): boolean {
  return /^\d{1,30}(?:\.\d{1,9})?$/.test(text)
}

/** The resourceVersion after which a client with this id resumes. */
export function versionOfId(id: string): string {
  return id.split('.', 1)[0] ?? id
}
