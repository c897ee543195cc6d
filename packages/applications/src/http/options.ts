import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { AdmissionReviewResponse } from '@tenure/runtime/webhooks'
import type { EventEntry, EventFilter, EventRecord } from '../events/entry.ts'
import type { ImagePolicy } from '../admission/image-policy.ts'

/** Part of the event history that the routes use. */
export interface Events {
  record(record: EventRecord): void
  list(filter?: EventFilter): readonly EventEntry[]
}

/** Part of admission that the routes use. */
export interface Reviews {
  validate(review: unknown): AdmissionReviewResponse
  mutate(review: unknown): AdmissionReviewResponse
}

export interface ApplicationRoutesOptions {
  readonly events: Events
  readonly reviews: Reviews
  /** Shown at `/` and in `/openapi.json`. Default `0.1.0`. */
  readonly version?: string | undefined
  /** Namespace whose Applications are served. Default: all. */
  readonly namespace?: string | undefined
  /** Shown at `/crds`; the first at `/crd`. Default: the Application definition. */
  readonly definitions?: readonly CustomResourceDefinition[] | undefined
  /** Create the namespace of a posted Application. Default false. */
  readonly createNamespaces?: boolean | undefined
  /** Image policy for posted Applications. Default: every image passes. */
  readonly policy?: ImagePolicy | undefined
  /** `/readyz` is 503 on replicas that are not the leader. Default false. */
  readonly readyzLeaderOnly?: boolean | undefined
}
