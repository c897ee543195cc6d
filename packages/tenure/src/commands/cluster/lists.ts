import {
  ApiError,
  type Client,
  isNotFound,
  type Kind,
  type KubeObject,
  type Selection,
  type Stored,
} from '@tenure/kube'

/** Where commands get the objects of a kind from: requests, or caches that follow the cluster. */
export interface Lists {
  /** A kind that the server does not serve has no objects, nor has one that the user may not list. */
  pages<T extends KubeObject>(kind: Kind<T>, selection?: Selection): AsyncIterable<readonly Stored<T>[]>
  list<T extends KubeObject>(kind: Kind<T>, selection?: Selection): Promise<readonly Stored<T>[]>
  /** As `pages`, and never from a cache. */
  request<T extends KubeObject>(kind: Kind<T>, selection?: Selection): AsyncIterable<readonly Stored<T>[]>
  /** Resources that the user may not list, such as `applications.cloudnative.elide.dev`. */
  readonly refused: ReadonlySet<string>
  /** Whether the server answered any list with objects, also with none. */
  readonly hasAnswered: boolean
}

/** Lists from the API server. */
export class RequestedLists implements Lists {
  readonly refused = new Set<string>()
  hasAnswered = false
  readonly #api: Client

  constructor(api: Client) {
    this.#api = api
  }

  pages<T extends KubeObject>(kind: Kind<T>, selection?: Selection): AsyncIterable<readonly Stored<T>[]> {
    return this.request(kind, selection)
  }

  async *request<T extends KubeObject>(kind: Kind<T>, selection: Selection = {}): AsyncGenerator<readonly Stored<T>[]> {
    try {
      for await (const { items } of this.#api.pages(kind, selection)) {
        this.hasAnswered = true
        yield items
      }
    } catch (error) {
      if (this.isServed(kind, error)) throw error
    }
  }

  async list<T extends KubeObject>(kind: Kind<T>, selection: Selection = {}): Promise<readonly Stored<T>[]> {
    return (await Array.fromAsync(this.pages(kind, selection))).flat()
  }

  /** False for an error that means that there is nothing to show; it is recorded. */
  protected isServed(kind: Kind, error: unknown): boolean {
    // Its definition is not installed.
    if (isNotFound(error)) {
      this.hasAnswered = true
      return false
    }
    if (!(error instanceof ApiError) || error.status !== 403) return true
    this.refused.add(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`)
    return false
  }
}

/** Names on the line about what is not shown. */
const MAX_NAMES = 8

/** One line about what is not shown; undefined if all is. */
export function refusedLine({ refused }: Pick<Lists, 'refused'>, namespace: string | undefined): string | undefined {
  if (refused.size === 0) return undefined
  const where = namespace === undefined ? 'in all namespaces (name one with -n)' : `in the namespace ${namespace}`
  const names = [...refused]
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more kinds` : ''
  return `Not shown, because you may not list them ${where}: ${names.slice(0, MAX_NAMES).join(', ')}${more}.`
}
