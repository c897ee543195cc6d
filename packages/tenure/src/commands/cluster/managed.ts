import {
  Application,
  type ApplicationRow,
  applicationRow,
  childNames,
  MANAGED_SELECTOR as APPLICATION_CHILDREN,
} from '@tenure/applications/rows'
import { type Claim, CLAIM_SELECTOR, claimOf, claimRow, type ClaimRow, poolStatus } from '@tenure/claims/rows'
import { type Kind, type KubeObject, type Selection, type Stored } from '@tenure/kube'
import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import {
  findLeases,
  followedKinds,
  type LeaseCliContext,
  type LeaseCliOptions,
  LeaseController,
  leaseControllerRow,
  type LeaseControllerRow,
  type ListedLease,
} from '@tenure/leases/cli'
import type { ClusterContext } from './context.ts'
import type { Lists } from './lists.ts'

/** Which objects a command shows. */
export interface Scope {
  /** Undefined: all. */
  readonly namespace?: string | undefined
  /** `app=web`. */
  readonly selector?: string | undefined
}

/** A pool, as its claims show it: its size and its template are known only to the operator. */
export interface ObservedPool {
  readonly id: string
  readonly name: string
  readonly namespace: string
  /** Members that wait and are ready, on their way, or cannot become ready. */
  readonly warm: number
  readonly pending: number
  readonly failing: number
  readonly claimed: number
  readonly lastFailure?: string
}

/** Everything that the operators manage in a cluster, as rows. */
export class Managed {
  readonly #context: ClusterContext
  readonly #lists: Lists
  readonly #scope: Scope
  /** The kinds with leases, once they are known: caches of all kinds of a cluster would be large. */
  #leasedKinds: readonly string[] | undefined

  constructor(context: ClusterContext, lists: Lists, scope: Scope) {
    this.#context = context
    this.#lists = lists
    this.#scope = scope
  }

  async applications(): Promise<readonly ApplicationRow[]> {
    const { namespace } = this.#scope
    const applications = await this.#objects(Application)
    if (applications.length === 0) return []
    const deployments = await this.#lists.list(Deployment, { namespace, ...APPLICATION_CHILDREN })
    const byKey = new Map(deployments.map((each) => [`${each.metadata.namespace}/${each.metadata.name}`, each]))
    return applications.map((application) => {
      const { metadata } = application
      return applicationRow(application, byKey.get(`${metadata.namespace}/${childNames(metadata.name).workload}`))
    })
  }

  async claims(): Promise<readonly Claim[]> {
    const objects = await this.#objects(ConfigMap, CLAIM_SELECTOR)
    return objects
      .map((object) => claimOf(object))
      .filter((claim) => claim !== undefined)
      .filter(({ isTerminating }) => !isTerminating)
  }

  async leaseControllers(): Promise<readonly LeaseControllerRow[]> {
    return (await this.#objects(LeaseController)).map((object) => leaseControllerRow(object))
  }

  /** Leases of all kinds, soonest first. Kinds whose objects have none at the first call are not looked at again. */
  async leases(): Promise<readonly ListedLease[]> {
    if (this.#leasedKinds?.length === 0) return []
    return await findLeases(this.#leaseContext(), this.#leaseOptions())
  }

  /** Watches no more kinds than those that have leases now, and those of LeaseControllers. */
  async followLeases(): Promise<void> {
    this.#leasedKinds = await followedKinds(this.#leaseContext(), this.#leaseOptions())
  }

  #leaseContext(): LeaseCliContext {
    const { namespace = '' } = this.#scope
    return { ...this.#context, namespace, pages: (kind, selection) => this.#leasePages(kind, selection) }
  }

  #leaseOptions(): LeaseCliOptions {
    const { namespace, selector } = this.#scope
    return {
      ...(namespace === undefined ? { allNamespaces: true } : { namespace }),
      selector,
      ...(this.#leasedKinds && { kinds: this.#leasedKinds }),
    }
  }

  /** The first look at all kinds is a request, also where caches follow the cluster. */
  #leasePages<T extends KubeObject>(kind: Kind<T>, selection: Selection): AsyncIterable<readonly Stored<T>[]> {
    return this.#leasedKinds ? this.#lists.pages(kind, selection) : this.#lists.request(kind, selection)
  }

  #objects<T extends KubeObject>(kind: Kind<T>, selector?: string): Promise<readonly Stored<T>[]> {
    const { namespace, selector: wanted } = this.#scope
    const labelSelector = [selector, wanted].filter(Boolean).join(',') || undefined
    return this.#lists.list(kind, { namespace: kind.namespaced ? namespace : undefined, labelSelector })
  }
}

export function claimRows(claims: readonly Claim[]): readonly ClaimRow[] {
  return claims.map(claimRow)
}

export function poolRows(claims: readonly Claim[], now: number): readonly ObservedPool[] {
  const pools = Map.groupBy(claims, ({ object, pool }) => `${object.metadata.namespace}/${pool}`)
  return [...pools].map(([id, members]) => {
    const name = id.slice(id.indexOf('/') + 1)
    const status = poolStatus(name, members, { history: undefined, templateFailure: undefined, now })
    const { claimed, failing, lastFailure, pending, ready } = status
    return {
      id,
      name,
      namespace: id.slice(0, id.indexOf('/')),
      warm: ready,
      pending,
      failing,
      claimed,
      ...(lastFailure !== undefined && { lastFailure }),
    }
  })
}
