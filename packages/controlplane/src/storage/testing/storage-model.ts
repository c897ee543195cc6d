export interface ModelChange {
  readonly revision: number
  readonly resource: string
  readonly key: string
  readonly value: string | undefined
}

/** The simplest correct storage: a list of all changes, replayed for every read. */
export class StorageModel {
  readonly changes: ModelChange[] = []
  oldest = 1

  get revision(): number {
    return this.changes.at(-1)?.revision ?? 1
  }

  write(resource: string, key: string, value: string | undefined): number {
    const revision = this.revision + 1
    this.changes.push({ revision, resource, key, value })
    return revision
  }

  state(resource: string, at = this.revision): ReadonlyMap<string, ModelChange> {
    const state = new Map<string, ModelChange>()
    for (const change of this.changes) {
      if (change.resource !== resource || change.revision > at) continue
      if (change.value === undefined) state.delete(change.key)
      else state.set(change.key, change)
    }
    return new Map([...state].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** `key=value@revision` of each object in a range. */
  range(
    resource: string,
    {
      at = this.revision,
      namespace,
      after,
    }: { at?: number; namespace?: string | undefined; after?: string | undefined },
  ): readonly string[] {
    return [...this.state(resource, at).values()]
      .filter(({ key }) => namespace === undefined || key.startsWith(`${namespace}/`))
      .filter(({ key }) => after === undefined || key > after)
      .map(({ key, value, revision }) => `${key}=${value}@${revision}`)
  }

  /** The lines that a watch from `from` receives. */
  watch(resource: string, from: number, upTo: number): readonly string[] {
    return this.changes
      .filter((change) => change.resource === resource && change.revision > from && change.revision <= upTo)
      .map(({ revision, key, value }) => {
        const previous = this.state(resource, revision - 1).get(key)?.value ?? 'nothing'
        return `${revision} ${key} ${previous} → ${value ?? 'deleted'} @${revision}`
      })
  }
}
