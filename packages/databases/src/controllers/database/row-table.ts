import type { ResourceRow } from '../../api/rows.ts'
import { type DatabaseNames, databaseNames } from '../../config/names.ts'

export interface RowTableSettings {
  readonly namespacePrefix: string
  /** Without it the operator manages only namespaces whose names begin with the prefix. */
  readonly watchAllNamespaces: boolean
}

/** The rows as last read or written, by id and by the name of their database. */
export class RowTable {
  readonly #settings: RowTableSettings
  readonly #rows = new Map<string, ResourceRow>()
  /** Ids by `namespace/name`. */
  readonly #byName = new Map<string, Set<string>>()

  constructor(settings: RowTableSettings) {
    this.#settings = settings
  }

  get size(): number {
    return this.#rows.size
  }

  values(): Iterable<ResourceRow> {
    return this.#rows.values()
  }

  get(id: string): ResourceRow | undefined {
    return this.#rows.get(id)
  }

  names(row: ResourceRow): DatabaseNames | { readonly refused: string } {
    const { namespacePrefix, watchAllNamespaces } = this.#settings
    const names = databaseNames(row, namespacePrefix)
    if ('refused' in names || watchAllNamespaces || names.namespace.startsWith(namespacePrefix)) return names
    const { namespace } = names
    const refused = `Namespace ${namespace} does not begin with ${namespacePrefix}, and WATCH_ALL_NAMESPACES is not set.`
    return { refused }
  }

  set(row: ResourceRow): void {
    const before = this.#rows.get(row.id)
    this.#rows.set(row.id, row)
    if (before && this.#keyOf(before) === this.#keyOf(row)) return
    if (before) this.#unlink(before)
    const key = this.#keyOf(row)
    if (key === undefined) return
    const ids = this.#byName.get(key)
    if (ids) ids.add(row.id)
    else this.#byName.set(key, new Set([row.id]))
  }

  delete(id: string): void {
    const row = this.#rows.get(id)
    if (!row) return
    this.#rows.delete(id)
    this.#unlink(row)
  }

  /** The rows whose database has that name. */
  idsOf(namespace: string, name: string): readonly string[] {
    return [...(this.#byName.get(`${namespace}/${name}`) ?? [])]
  }

  /** The rows whose databases are in that namespace. */
  idsIn(namespace: string): readonly string[] {
    return [...this.#byName].flatMap(([key, ids]) => (key.startsWith(`${namespace}/`) ? [...ids] : []))
  }

  /** The row that has the name before this one does: the one with the lowest id, unless another owns the objects. */
  rival(row: ResourceRow, names: DatabaseNames, owner: string | undefined): string | undefined {
    const ids = this.idsOf(names.namespace, names.name).filter((id) => {
      const other = this.#rows.get(id)
      return isManaged(other) && !isDeletionFinished(other)
    })
    if (owner === row.id) return undefined
    if (owner !== undefined && ids.includes(owner)) return owner
    const [first] = ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
    return first === row.id ? undefined : first
  }

  #keyOf(row: ResourceRow): string | undefined {
    const names = this.names(row)
    return 'refused' in names ? undefined : `${names.namespace}/${names.name}`
  }

  #unlink(row: ResourceRow): void {
    const key = this.#keyOf(row)
    const ids = key === undefined ? undefined : this.#byName.get(key)
    if (ids?.delete(row.id) && ids.size === 0 && key !== undefined) this.#byName.delete(key)
  }
}

/** Nothing is left to do for a row that says so. */
export function isDeletionFinished(row: ResourceRow | undefined): boolean {
  return (
    row?.deletedAt !== undefined &&
    row.status === 'deleted' &&
    row.observedGeneration === row.generation &&
    row.job === undefined
  )
}

/** The operator creates, changes and deletes the objects of these rows only. */
export function isManaged(row: ResourceRow | undefined): boolean {
  return row?.lifecycleMode === 'full'
}
