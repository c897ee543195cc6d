import type { Column } from '../registry/types.ts'
import { COLUMNS, DESCRIPTIONS } from './generated/columns.ts'

/** Returns the columns that kube-apiserver prints for a built-in resource; `key` is `plural.group/version`. */
export function builtInColumns(key: string): readonly Column[] {
  return (COLUMNS[key] ?? []).map(([name, type, format, priority, description]) => ({
    name,
    type,
    format,
    priority,
    description: DESCRIPTIONS[description] ?? '',
  }))
}
