/** The names of Go's types and kinds. */
import { GoComplex, GoFunctionValue, GoInt, GoList, GoStruct, NamedMap } from './values.ts'
import type { IntKind, GoValue } from './values.ts'

export type GoKind =
  | 'invalid'
  | 'bool'
  | IntKind
  | 'float64'
  | 'complex128'
  | 'string'
  | 'slice'
  | 'map'
  | 'struct'
  | 'ptr'
  | 'func'

/** As `%T` prints it. */
export function typeOf(value: GoValue): string {
  switch (typeof value) {
    case 'undefined':
      return '<nil>'
    case 'boolean':
      return 'bool'
    case 'number':
      return 'float64'
    case 'string':
      return 'string'
    default:
  }
  if (value === null) return '<nil>'
  if (value instanceof GoInt) return value.named ?? value.kind
  if (Array.isArray(value)) return '[]interface {}'
  if (value instanceof NamedMap || value instanceof GoList) return value.type
  if (value instanceof Map) return 'map[string]interface {}'
  if (value instanceof GoStruct) return value.isPointer ? `*${value.type}` : value.type
  if (value instanceof GoComplex) return 'complex128'
  return 'func()'
}

export function kindOf(value: GoValue): GoKind {
  switch (typeof value) {
    case 'undefined':
      return 'invalid'
    case 'boolean':
      return 'bool'
    case 'number':
      return 'float64'
    case 'string':
      return 'string'
    default:
  }
  if (value === null) return 'invalid'
  if (value instanceof GoInt) return value.kind
  if (Array.isArray(value) || value instanceof GoList) return 'slice'
  if (value instanceof Map) return 'map'
  if (value instanceof GoStruct) return value.isPointer ? 'ptr' : 'struct'
  if (value instanceof GoComplex) return 'complex128'
  return 'func'
}

/** The type of the elements of a list or map. */
export function elementType(value: GoValue): string {
  if (value instanceof NamedMap) return value.elem
  if (value instanceof GoList) return value.type === 'chartutil.VersionSet' ? 'string' : value.type.slice(2)
  return 'interface {}'
}

/** The zero value of a type of elements. */
export function zeroOf(type: string): GoValue {
  switch (type) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int':
      return new GoInt('int', 0n)
    case '[]uint8':
      return new GoList('[]uint8', null)
    case '[]interface {}':
      return new GoList('[]interface {}', null)
    default:
      return null
  }
}

export function isNil(value: GoValue): boolean {
  if (value === undefined || value === null) return true
  return (value instanceof GoList || value instanceof NamedMap) && value.isNil
}

/** Whether the value counts as true in `if`, `and`, `or` and `not`. */
export function isTrue(value: GoValue): boolean {
  switch (typeof value) {
    case 'undefined':
      return false
    case 'boolean':
      return value
    case 'number':
      return value !== 0
    case 'string':
      return value !== ''
    default:
  }
  if (value === null) return false
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof Map) return value.size > 0
  if (value instanceof GoInt) return value.value !== 0n
  if (value instanceof GoList) return value.items.length > 0
  if (value instanceof GoComplex) return value.real !== 0 || value.imaginary !== 0
  return value instanceof GoStruct || value instanceof GoFunctionValue
}
