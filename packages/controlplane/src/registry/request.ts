import type { DuplicateKeys } from '@tenure/yaml'

import type { KubeObject } from '@tenure/kube'
import type { StoredObject } from '../storage/types.ts'
import type { ResourceDefinition, User } from './types.ts'

export type ResourceVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** The media type of server-side apply. */
export const APPLY_PATCH = 'application/apply-patch+yaml'

/** The query parameters of a request and the body of a delete, unchecked; the registry checks them. */
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

/** One request for a resource, after routing and authentication. */
export interface ResourceRequest {
  readonly verb: ResourceVerb
  readonly definition: ResourceDefinition
  /** Empty for the resource itself. */
  readonly subresource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly options: RequestOptions
  /** Parsed; undefined without a body. */
  readonly body: unknown
  /** The length of its text; undefined: unknown. */
  readonly bodyLength?: number
  /** Duplicate keys of the body, for fieldValidation. */
  readonly duplicateKeys?: DuplicateKeys
  /** The media type of a patch, without parameters. */
  readonly patchType?: string
  readonly user: User
  readonly userAgent: string
  readonly signal: AbortSignal
  /** Reads return the state at this revision: a stale read, for tests. Default: the newest. */
  readonly at?: number | undefined
}

/** An event of a watch. DELETED carries the last state with the deletion's resourceVersion. */
export type WatchItem =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly stored: StoredObject }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: Error }

/** A running watch: `open` starts calling `send` synchronously, in order; either side may `close` it. */
export interface WatchSession {
  open(send: (item: WatchItem) => void, ended: () => void): void
  close(): void
}

/** The response of the registry; the server encodes it in the requested representation. */
export type ResourceResponse =
  | {
      readonly type: 'object'
      readonly status: 200 | 201
      readonly stored?: StoredObject
      /** Instead of `stored`, for objects that are not stored as such: scale, dry runs, reviews. */
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
  /** The Status with `status: Success` of a delete. */
  | { readonly type: 'deleted'; readonly name: string; readonly uid: string; readonly warnings: readonly string[] }
  | { readonly type: 'watch'; readonly session: WatchSession }

/** The verbs of every resource. Rejects with a StatusError. */
export interface ResourceRegistry {
  handle(request: ResourceRequest): Promise<ResourceResponse>
}

/** One write before it is stored. */
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

/** Mutates and refuses writes. `mutate` returns the object to store; both may throw a StatusError. */
export interface Admission {
  /** False if no plugin handles such a write, which is then decided in one step. Default: all writes are handled. */
  concerns?(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean
  mutate(attributes: AdmissionAttributes, warn: (warning: string) => void): Promise<KubeObject | undefined>
  validate(attributes: AdmissionAttributes, warn: (warning: string) => void): Promise<void>
}
