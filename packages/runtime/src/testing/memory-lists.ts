import { Refusal } from './memory-answer.ts'
import { apiVersionOf, listItem, metadataForm, resourceOf, wantsMetadata } from './memory-form.ts'
import type { Json } from './memory-json.ts'
import type { MemoryObjects } from './memory-objects.ts'
import { type RecordedRequest, selectionOf } from './memory-request.ts'

/** Lists in pages, each list one snapshot. */
export class MemoryLists {
  readonly #objects: MemoryObjects
  readonly #pages = new Map<string, { readonly items: readonly Json[]; readonly revision: number }>()
  #tokens = 0
  #stale: number | undefined

  constructor(objects: MemoryObjects) {
    this.#objects = objects
  }

  /** Reads that accept an older state get that of this revision. */
  serveStale(revision: number | undefined): void {
    this.#stale = revision
  }

  /** Makes every continue token expire. */
  forgetPages(): void {
    this.#pages.clear()
  }

  list(request: RecordedRequest): Json {
    const { continue: token, limit, resourceVersion, resourceVersionMatch } = request.query
    const page = token ? this.#pages.get(token) : undefined
    if (token && !page) {
      throw new Refusal(
        410,
        'Expired',
        'The provided continue parameter is too old to display a consistent list result.',
      )
    }
    const revision = page?.revision ?? this.revisionFor(resourceVersion, resourceVersionMatch)
    const all =
      page?.items ?? [...this.#objects.store.list(resourceOf(request), revision).values()].filter(selectionOf(request))
    const size = limit && limit !== '0' ? Number(limit) : Infinity
    const rest = all.slice(size)
    const next = rest.length > 0 ? `page-${++this.#tokens}` : ''
    if (next) this.#pages.set(next, { items: rest, revision })
    const asMetadata = wantsMetadata(request)
    return {
      kind: asMetadata ? 'PartialObjectMetadataList' : `${this.#objects.kindOf(request)}List`,
      apiVersion: asMetadata ? 'meta.k8s.io/v1' : apiVersionOf(request),
      metadata: {
        resourceVersion: String(revision),
        ...(next && { continue: next, remainingItemCount: rest.length }),
      },
      items: all.slice(0, size).map((object) => (asMetadata ? metadataForm(object) : listItem(object, request.group))),
    }
  }

  /** The state from which a read is served. */
  revisionFor(version: string | undefined, match: string | undefined): number {
    if (match === 'Exact') return Number(version)
    const mayBeStale = version !== undefined && this.#stale !== undefined && Number(version) <= this.#stale
    return mayBeStale ? (this.#stale ?? 0) : this.#objects.store.revision
  }
}
