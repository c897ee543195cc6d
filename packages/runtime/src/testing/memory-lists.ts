import type { JsonObject } from '@tenure/kube/model'
import type { MemoryObjects } from './memory-objects.ts'
import { type RecordedRequest, selectionOf } from './recorded-request.ts'
import { apiVersionOf, asMetadata, resourceOf, wantsMetadata } from './representation.ts'
import { RequestError } from './responses.ts'

/** Lists in pages; all pages of a list are of one snapshot. */
export class MemoryLists {
  readonly #objects: MemoryObjects
  readonly #pages = new Map<string, { readonly items: readonly JsonObject[]; readonly revision: number }>()
  #tokens = 0

  constructor(objects: MemoryObjects) {
    this.#objects = objects
  }

  /** Expires every continue token. */
  expirePages(): void {
    this.#pages.clear()
  }

  list(request: RecordedRequest): JsonObject {
    const { continue: token, limit } = request.query
    const page = token ? this.#pages.get(token) : undefined
    if (token && !page) throw new RequestError(410, 'Expired', 'The provided continue parameter is too old.')
    const { store } = this.#objects
    const revision = page?.revision ?? store.revision
    const all = page?.items ?? store.list(resourceOf(request)).filter(selectionOf(request))
    const size = limit && limit !== '0' ? Number(limit) : Infinity
    const rest = all.slice(size)
    const next = rest.length > 0 ? `page-${++this.#tokens}` : ''
    if (next) this.#pages.set(next, { items: rest, revision })
    const isMetadata = wantsMetadata(request)
    return {
      kind: isMetadata ? 'PartialObjectMetadataList' : `${this.#objects.kindOf(request)}List`,
      apiVersion: isMetadata ? 'meta.k8s.io/v1' : apiVersionOf(request),
      metadata: {
        resourceVersion: String(revision),
        ...(next && { continue: next, remainingItemCount: rest.length }),
      },
      items: all.slice(0, size).map((object) => (isMetadata ? asMetadata(object) : listItem(object, request.group))),
    }
  }
}

/** Items of built-in kinds come without apiVersion and kind; those of custom resources have them. */
function listItem(object: JsonObject, group: string): JsonObject {
  if (group.includes('.') && !group.endsWith('.k8s.io')) return object
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return rest
}
