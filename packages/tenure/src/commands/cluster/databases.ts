import { existsSync } from 'node:fs'
import path from 'node:path'
import {
  APP_LABEL,
  type DatabaseReader,
  type DatabaseRow,
  describeDbFailure,
  MANAGED_BY_LABEL,
  openDatabaseReader,
  OPERATOR,
  POSTGRES_URL_FILE,
  RESOURCE_ID_LABEL,
} from '@tenure/databases/cli'
import { asError, type Stored } from '@tenure/kube'
import { StatefulSet } from '@tenure/kube/kinds'
import type { ClusterContext, ClusterOptions } from './context.ts'
import type { Lists } from './lists.ts'

/** Variables that name the PostgreSQL with the rows. */
const VARIABLES = ['DATABASE_URL', 'DB_HOST', 'DB_PORT', 'DB_USER', 'DB_PASSWORD', 'DB_NAME', 'DB_SSL_MODE']

export interface ShownDatabases {
  readonly rows: readonly DatabaseRow[]
  /** Why the rows are not those of PostgreSQL. Undefined if they are, or there are none. */
  readonly note?: string | undefined
}

/** The databases: rows of PostgreSQL, or, where it cannot be reached, the StatefulSets in the cluster. */
export class Databases {
  readonly #context: ClusterContext
  readonly #options: Pick<ClusterOptions, 'databaseUrl'>
  #reader: Promise<DatabaseReader> | undefined

  constructor(context: ClusterContext, options: Pick<ClusterOptions, 'databaseUrl'>) {
    this.#context = context
    this.#options = options
  }

  /** A PostgreSQL is named. That of `npm start` belongs to its own cluster. */
  get isNamed(): boolean {
    const { environment, isLocal } = this.#context
    if (this.#options.databaseUrl !== undefined || VARIABLES.some((name) => environment[name])) return true
    const { TENURE_DATA: data } = environment
    return isLocal && existsSync(path.join(data || '.tenure', POSTGRES_URL_FILE))
  }

  async rows(lists: Lists, namespace: string | undefined): Promise<ShownDatabases> {
    const isShown = (row: DatabaseRow): boolean => namespace === undefined || row.namespace === namespace
    let reason = 'no PostgreSQL is named (DATABASE_URL, or --database-url)'
    if (this.isNamed) {
      try {
        const reader = await this.open()
        return { rows: (await reader.list()).filter(isShown) }
      } catch (error) {
        this.#reader = undefined
        reason = describeDbFailure(error, '').split(/(?<=\.) The address comes from/)[0] ?? asError(error).message
      }
    }
    const selection = { namespace, labelSelector: `${MANAGED_BY_LABEL}=${OPERATOR}` }
    const rows = (await lists.list(StatefulSet, selection)).map(rowOf)
    const note = `Databases are shown as their StatefulSets, without teams and reasons: ${reason}`
    return { rows, ...((rows.length > 0 || this.isNamed) && { note }) }
  }

  /** The connection. Rejects if none is named. */
  open(): Promise<DatabaseReader> {
    const { clock, environment, random, warn, write } = this.#context
    // The file of `npm start` is where the kubeconfig is, which was said already.
    const quiet = this.#context.isLocal ? () => undefined : warn
    this.#reader ??= openDatabaseReader({ clock, random, environment, write, warn: quiet }, this.#options)
    return this.#reader
  }

  async close(): Promise<void> {
    const reader = await this.#reader?.catch(() => undefined)
    await reader?.close()
  }
}

/** A database, as far as its StatefulSet shows it. */
function rowOf({ metadata, spec, status }: Stored<StatefulSet>): DatabaseRow {
  const { labels = {}, name, namespace } = metadata
  const replicas = spec?.replicas ?? 1
  const readyReplicas = status?.readyReplicas ?? 0
  const [container] = spec?.template.spec?.containers ?? []
  return {
    id: labels[RESOURCE_ID_LABEL] ?? '',
    name: labels[APP_LABEL] ?? name,
    ...(namespace !== undefined && { namespace }),
    engine: container?.image?.split('/').at(-1)?.split(/[:@]/)[0] ?? '',
    status: replicas === 0 ? 'paused' : readyReplicas >= replicas ? 'active' : 'updating',
    replicas,
    readyReplicas,
    lifecycleMode: '',
    generation: '',
  }
}
