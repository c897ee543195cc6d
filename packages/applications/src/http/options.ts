import type { HttpRequest, Answer } from '@tenure/http'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { ReviewResponse } from '@tenure/runtime'
import type { EventEntry, EventFilter, EventRecord } from '../events/entry.ts'
import type { ImagePolicy } from '../admission/image-policy.ts'

/** What the routes need to know of the event history. */
export interface Events {
  record(record: EventRecord): void
  list(filter?: EventFilter): readonly EventEntry[]
}

/** What the routes need to know of admission. */
export interface Reviews {
  validate(review: unknown): ReviewResponse
  mutate(review: unknown): ReviewResponse
}

export interface ApplicationRoutesOptions {
  readonly events: Events
  readonly reviews: Reviews
  /** Shown at `/` and in `/openapi.json`. Default `0.1.0`. */
  readonly version?: string | undefined
  /** Serve the Applications of this namespace only. Default: of all. */
  readonly namespace?: string | undefined
  /** Shown at `/crds`; the first at `/crd`. Default: the Application definition. */
  readonly definitions?: readonly CustomResourceDefinition[] | undefined
  /** Make a namespace that an Application is posted into. Default false. */
  readonly createNamespaces?: boolean | undefined
  /** Hold an image policy against what is posted here. Default: none. */
  readonly policy?: ImagePolicy | undefined
  /** The Lease of the election; undefined without one. Default: undefined. */
  readonly lease?: { readonly name: string; readonly namespace?: string | undefined } | undefined
  /** Who this process is, shown at `/leader` where there is no election. Default: the operator's name. */
  readonly identity?: string | undefined
  /** `/readyz` is 503 on replicas that do not lead. Default false. */
  readonly readyzLeaderOnly?: boolean | undefined
  /** What a browser gets at `/`; undefined: the same JSON as everybody. Default: none. */
  readonly page?: ((request: HttpRequest) => Answer | undefined) | undefined
}
