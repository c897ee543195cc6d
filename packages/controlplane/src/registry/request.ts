import type { KubeObject } from '@tenure/kube'
import type { StoredObject } from '../storage/types.ts'
import type { ResourceDefinition, User } from './types.ts'

export type ResourceVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** The media type of server-side apply. */
export const APPLY_PATCH = 'application/apply-patch+yaml'

/** The query parameters of a request, and a delete's body, as they came; the registry checks them. */
export interface RequestOptions {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: string
  readonly timeoutSeconds?: number
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
  readonly force?: boolean
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** Keys that were found twice while parsing, in the words of what they were found in: all in one refusal, or a warning each. */
export interface DoubledKeys {
  readonly refusal: string
  readonly warnings: readonly string[]
}

/** One request for a resource, after routing and authentication. */
export interface ResourceRequest {
  readonly verb: ResourceVerb
  readonly definition: ResourceDefinition
  /** Empty for the resource itself. */
  readonly subresource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly options: RequestOptions
  /** Parsed; undefined without one. */
  readonly body: unknown
  /** Keys that the body has twice, for fieldValidation. */
  readonly doubled?: DoubledKeys
  /** Of a patch: its media type without parameters. */
  readonly patchType?: string
  readonly user: User
  readonly userAgent: string
  readonly signal: AbortSignal
  /** Reads show the state at this revision: a stale read, for tests. Default: now. */
  readonly at?: number | undefined
}

/** What a watch sends. A DELETED carries the last state with the deletion's resourceVersion. */
export type WatchItem =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly stored: StoredObject }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: Error }

/** A running watch: `open` begins to call `send` synchronously, in order; `close` ends it from either side. */
export interface WatchSession {
  open(send: (item: WatchItem) => void, ended: () => void): void
  close(): void
}

/** What the registry answers; the server turns it into bytes in the form that was asked for. */
export type ResourceAnswer =
  | {
      readonly type: 'object'
      readonly status: 200 | 201
      readonly stored?: StoredObject
      /** Instead of `stored`, for what is not stored as such: scale, dry runs, reviews. */
      readonly object?: KubeObject
      readonly warnings: readonly string[]
    }
  | {
      readonly type: 'list'
      readonly items: readonly StoredObject[]
      readonly revision: number
      readonly continue?: string
      readonly remaining?: number
    }
  /** A Status with `status: Success`: what a delete answers. */
  | { readonly type: 'deleted'; readonly name: string; readonly uid: string; readonly warnings: readonly string[] }
  | { readonly type: 'watch'; readonly session: WatchSession }

/** The verbs of every resource. Rejects with a StatusError. */
export interface ResourceRegistry {
  handle(request: ResourceRequest): Promise<ResourceAnswer>
}

/** One write, before it is stored. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly definition: ResourceDefinition
  readonly subresource: string
  readonly namespace: string | undefined
  readonly name: string
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly options: KubeObject & Readonly<Record<string, unknown>>
  readonly user: User
  readonly dryRun: boolean
}

/** Changes and refuses writes. `mutate` returns the object as it is to be; both may throw a StatusError. */
export interface Admission {
  /** False if nothing of it looks at such a write, which is then decided in one go. Default: it looks at all. */
  concerns?(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean
  mutate(attributes: AdmissionAttributes, warn: (warning: string) => void): Promise<KubeObject | undefined>
  validate(attributes: AdmissionAttributes, warn: (warning: string) => void): Promise<void>
}
