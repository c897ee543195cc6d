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
  readonly #onChange: (id: string) => void
  readonly #rows = new Map<string, ResourceRow>()
  /** Ids by `namespace/name`. */
  readonly #byName = new Map<string, Set<string>>()

  /** Names of databases that run where their row does not say, by id. */
  readonly #displaced = new Map<string, string>()

  /** `onChange` is called with each row that was set or deleted. Default: nothing is called. */
  constructor(settings: RowTableSettings, onChange: (id: string) => void = () => undefined) {
    this.#settings = settings
    this.#onChange = onChange
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
    const { namespacePrefix } = this.#settings
    const names = databaseNames(row, namespacePrefix)
    if ('refused' in names || this.isWatched(names.namespace)) return names
    const { namespace } = names
    const refused = `Namespace ${namespace} does not begin with ${namespacePrefix}, and WATCH_ALL_NAMESPACES is not set.`
    return { refused }
  }

  /** Whether the operator manages databases in that namespace. */
  isWatched(namespace: string): boolean {
    const { namespacePrefix, watchAllNamespaces } = this.#settings
    return watchAllNamespaces || namespace.startsWith(namespacePrefix)
  }

  /** Where the row's database runs, if the row has other names now: it is found under both. */
  setDisplaced(id: string, names: DatabaseNames | undefined): void {
    const key = names && `${names.namespace}/${names.name}`
    const before = this.#displaced.get(id)
    if (before === key) return
    const row = this.#rows.get(id)
    if (before !== undefined && (!row || this.#keyOf(row) !== before)) this.#unlink(before, id)
    if (key === undefined) this.#displaced.delete(id)
    else {
      this.#displaced.set(id, key)
      this.#link(key, id)
    }
  }

  set(row: ResourceRow): void {
    const before = this.#rows.get(row.id)
    this.#rows.set(row.id, row)
    this.#onChange(row.id)
    const [from, to] = [before && this.#keyOf(before), this.#keyOf(row)]
    if (from === to) return
    if (from !== undefined && from !== this.#displaced.get(row.id)) this.#unlink(from, row.id)
    if (to !== undefined) this.#link(to, row.id)
  }

  delete(id: string): void {
    const row = this.#rows.get(id)
    if (!row) return
    this.setDisplaced(id, undefined)
    this.#rows.delete(id)
    this.#onChange(id)
    const key = this.#keyOf(row)
    if (key !== undefined) this.#unlink(key, id)
  }

  /** The rows whose database has that name. */
  idsOf(namespace: string, name: string): readonly string[] {
    return [...(this.#byName.get(`${namespace}/${name}`) ?? [])]
  }

  /** Other rows of the same name, also of the name under which the row's database runs. */
  namesakes(row: ResourceRow): readonly string[] {
    const keys = [this.#keyOf(row), this.#displaced.get(row.id)].filter((key) => key !== undefined)
    return keys.flatMap((key) => [...(this.#byName.get(key) ?? [])]).filter((id) => id !== row.id)
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

  #link(key: string, id: string): void {
    const ids = this.#byName.get(key)
    if (ids) ids.add(id)
    else this.#byName.set(key, new Set([id]))
  }

  #unlink(key: string, id: string): void {
    const ids = this.#byName.get(key)
    if (ids?.delete(id) && ids.size === 0) this.#byName.delete(key)
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
