/** One thing in a list. Times of rows are milliseconds since 1970. */
export interface PageRow {
  /** Unique in its view. */
  readonly id: string
  readonly name: string
  readonly namespace?: string
}

/** A condition of an object, as Kubernetes writes it. */
export interface ShownCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  /** RFC 3339. */
  readonly lastTransitionTime: string
}

/** Durations in seconds, as a Prometheus histogram: `counts` are cumulative and have one more entry, for +Inf. */
export interface ShownHistogram {
  readonly le: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

/** The rows of each view of the API. */
export interface PageRows {
  readonly applications: PageRow & {
    readonly namespace: string
    readonly phase: string
    readonly image: string
    readonly replicas: number
    readonly readyReplicas: number
    readonly updatedReplicas: number
    readonly strategy: string
    readonly message: string
    readonly createdAt: number
    readonly conditions: readonly ShownCondition[]
    readonly resourceVersion: string
  }
  readonly claims: PageRow & {
    readonly namespace: string
    readonly pool: string
    readonly status: 'pending' | 'ready' | 'failed'
    readonly message: string
    /** The claim waits in its pool. */
    readonly isIdle: boolean
    readonly preProvisioned: boolean
    readonly createdAt: number
    readonly claimedAt?: number
    readonly expiresAt?: number
    readonly data: Readonly<Record<string, string>>
    readonly resources: readonly {
      readonly kind: string
      readonly name: string
      readonly ready: boolean
      readonly message: string
    }[]
  }
  readonly pools: PageRow & {
    readonly target: number
    readonly warm: number
    readonly claimed: number
    readonly pending: number
    readonly failing: number
    /** Claims that were handed out from the pool, and claims that were made on demand. */
    readonly claimsWarm: number
    readonly claimsCold: number
    readonly handoutSeconds: ShownHistogram
    readonly lastFailure?: string
    readonly failedUntil?: number
    /** Milliseconds. */
    readonly defaultTtl: number
    readonly maxTtl: number
  }
  readonly leases: PageRow & {
    readonly apiVersion: string
    readonly kind: string
    readonly plural: string
    readonly group: string
    readonly ttl: string
    readonly leaseStart?: number
    readonly expiresAt?: number
    readonly status: string
    readonly createdAt: number
  }
  readonly 'lease-controllers': PageRow & {
    readonly targetKind: string
    readonly targetGroup: string
    readonly targetVersion: string
    readonly mode: string
    readonly ready: boolean
    readonly reason: string
    readonly message: string
    readonly objects?: number
    readonly createdAt: number
  }
  readonly databases: PageRow & {
    readonly team?: string
    readonly engine: string
    readonly version?: string
    readonly status: string
    readonly reason?: string
    readonly replicas: number
    readonly readyReplicas: number
    readonly host?: string
    readonly port?: number
    readonly secretName?: string
    readonly lifecycleMode: string
    readonly generation: string
    readonly observedGeneration?: string
    readonly job?: {
      readonly id?: string
      readonly type: string
      readonly status: string
      readonly attempts?: number
    }
  }
  readonly controllers: PageRow & {
    readonly operator: string
    readonly leader?: string
    readonly isLeader: boolean
    readonly depth: number
    readonly retries: number
    readonly reconciles: number
    readonly errors: number
    readonly lastEventAt?: number
    readonly durationSeconds: ShownHistogram
  }
}

/** A view of the API by name. */
export type PageView = keyof PageRows

export const PAGE_VIEWS: readonly PageView[] = [
  'applications',
  'claims',
  'pools',
  'leases',
  'lease-controllers',
  'databases',
  'controllers',
]

/** A row of the view. */
export type RowOf<V extends PageView> = PageRows[V]

/** The facts that the server states about itself. */
export interface AboutServer {
  readonly version: string
  readonly operators: readonly string[]
  readonly views: readonly { readonly name: string; readonly title: string }[]
  readonly authentication: 'none' | 'token'
}

/** One page of a list. */
export interface ListPage<R> {
  readonly items: readonly R[]
  readonly total: number
  readonly remaining: number
  /** The token of the next page. */
  readonly continue?: string
  /** The `Last-Event-ID` with which the stream continues after this list. */
  readonly cursor: string
}

/** A change that the stream sends. */
export type StreamChange =
  | { readonly view: string; readonly type: 'set'; readonly row: PageRow }
  | { readonly view: string; readonly type: 'delete'; readonly id: string }

/** An object in an owner tree. */
export interface OwnerTreeNode {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid: string
  readonly ready?: boolean
  readonly message?: string
  readonly children?: readonly OwnerTreeNode[]
}

/** One object with its relatives. */
export interface ObjectDetails {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata: {
      readonly name: string
      readonly namespace?: string
      readonly creationTimestamp?: string
      readonly deletionTimestamp?: string
      readonly labels?: Readonly<Record<string, string>>
      readonly resourceVersion?: string
    }
    readonly status?: { readonly conditions?: readonly Partial<ShownCondition>[] }
  }
  readonly yaml: string
  /** From the direct owner to the root. */
  readonly owners: readonly OwnerTreeNode[]
  readonly children: readonly OwnerTreeNode[]
  readonly events: readonly {
    readonly type: string
    readonly reason: string
    readonly message: string
    readonly count: number
    /** RFC 3339. */
    readonly lastTimestamp: string
    readonly source: string
  }[]
  /** One sentence that says why the object is not ready. */
  readonly why?: string
}

/** One database with its history. */
export interface DatabaseDetails {
  readonly row: RowOf<'databases'>
  readonly config: Readonly<Record<string, unknown>>
  readonly jobs: readonly {
    readonly id: string
    readonly type: string
    readonly status: string
    readonly startedAt?: number
    readonly completedAt?: number
    readonly logs: string
    readonly error?: string
  }[]
  readonly audit: readonly {
    readonly id: string
    readonly action: string
    readonly at: number
    /** Empty in rows of other programs. */
    readonly changes: readonly string[]
    readonly details: unknown
  }[]
}
