/** The methods of values. Types register theirs, so that this module depends on none of them. */
import type { GoFunction } from './go-function.ts'
import { GoInt, GoList, GoStruct, NamedMap } from './values.ts'
import type { GoValue } from './values.ts'

/** A method whose receiver is the first argument. */
export type MethodTable = ReadonlyMap<string, (receiver: GoValue) => GoFunction>

const tables = new Map<string, MethodTable>()

/** Gives the named map and list types their methods. */
export function registerMethods(type: string, table: MethodTable): void {
  tables.set(type, table)
}

export function methodOf(value: GoValue, name: string): GoFunction | undefined {
  if (value instanceof GoStruct) return value.methods.get(name) ?? embeddedMethod(value, name)
  if (value instanceof NamedMap || value instanceof GoList) return tables.get(value.type)?.get(name)?.(value)
  if (value instanceof GoInt && value.named !== undefined) return tables.get(value.named)?.get(name)?.(value)
  return undefined
}

function embeddedMethod(value: GoStruct, name: string): GoFunction | undefined {
  for (const field of value.fields) {
    if (field.isEmbedded === true && field.value instanceof GoStruct) {
      const method = methodOf(field.value, name)
      if (method) return method
    }
  }
  return undefined
}
