import { StatusError } from '../errors.ts'

/** The limit of etcd for a request: kube-apiserver cannot store a larger object either. */
export const MAX_STORED_BYTES = 1.5 * 1024 * 1024
/** UTF-8 has at most this many bytes per unit of a string's length. */
const MAX_BYTES_PER_UNIT = 3
/** A body up to this size makes no large object, whatever defaults it gets; only a patch that copies can. */
const MAX_SMALL_BODY_LENGTH = 16 * 1024

/** kube-apiserver passes etcd's message on with status 500, which clients take for a failure of the server. */
export const tooLargeToStore = (): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', 'etcdserver: request is too large')

/**
 * Refuses a value whose JSON is surely too large to be stored, before any work is done on it: the work for one object
 * grows with its size, and nothing else runs meanwhile.
 */
export function refuseOversized(value: unknown): void {
  if (leastBytes(value, MAX_STORED_BYTES) > MAX_STORED_BYTES) throw tooLargeToStore()
}

/** The same, unless the length of the request's body shows that the value cannot be too large: most walks are saved. */
export function refuseIfLarge(bodyLength: number | undefined, value: unknown): void {
  if (bodyLength === undefined || bodyLength > MAX_SMALL_BODY_LENGTH) refuseOversized(value)
}

/** Refuses an object whose JSON is too large to be stored. */
export function checkStoredSize(json: string): void {
  if (json.length * MAX_BYTES_PER_UNIT <= MAX_STORED_BYTES) return
  if (Buffer.byteLength(json) > MAX_STORED_BYTES) throw tooLargeToStore()
}

/** The bytes of a value's JSON without escapes and long characters, or a number above `enough` if there are more. */
function leastBytes(value: unknown, enough: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'object': {
      if (value === null) return 4
      let bytes = 1
      if (Array.isArray(value)) {
        for (const item of value as readonly unknown[]) {
          bytes += 1 + leastBytes(item, enough - bytes)
          if (bytes > enough) return bytes
        }
        return Math.max(bytes, 2)
      }
      for (const key in value) {
        const item = (value as Readonly<Record<string, unknown>>)[key]
        if (item === undefined) continue
        bytes += key.length + 4 + leastBytes(item, enough - bytes)
        if (bytes > enough) return bytes
      }
      return Math.max(bytes, 2)
    }
    case 'undefined':
      return 0
    default:
      return 1
  }
}
