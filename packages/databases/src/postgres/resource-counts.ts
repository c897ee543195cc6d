import type { ResourceRow } from '../api/rows.ts'

export interface ResourceCount {
  readonly type: string
  readonly status: string
  readonly team: string
  readonly lifecycleMode: string
  readonly count: number
}

/** Counts rows by the labels of `nest_resources_total`. The team is its name, or its id if it has none. */
export function countResources(rows: Iterable<ResourceRow>): readonly ResourceCount[] {
  const counts = new Map<string, ResourceCount>()
  for (const { lifecycleMode, status, teamId, teamName, type } of rows) {
    const team = teamName ?? teamId ?? ''
    const key = JSON.stringify([type, status, team, lifecycleMode])
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { type, status, team, lifecycleMode, count })
  }
  return [...counts.values()]
}
