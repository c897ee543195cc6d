import { goSyntax, goType, goValue } from '../patch/go-format.ts'
import { isList, isObject } from '../patch/json.ts'
import type { JsonObject } from '../patch/json.ts'
import { ItemError, itemElement, kindFor } from './fields/value-type.ts'
import { compareText, fieldElement, printElement } from './fields/path-element.ts'
import type { ListType, MapType, ScalarType, Structure } from './fields/structure.ts'

interface Complaint {
  readonly path: string
  readonly message: string
}

type Complaints = readonly Complaint[] | undefined

/** Why an object is not of its kind, as the real server words it; undefined if it is. */
export function complaintsAbout(object: unknown, structure: Structure): string | undefined {
  const complaints = check(object, structure)
  if (!complaints) return undefined
  const lines = complaints
    .toSorted((a, b) => compareText(a.path, b.path))
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return lines.length > 1 ? ['errors:', ...lines.map((line) => `  ${line}`)].join('\n') : lines[0]
}

const complaint = (message: string): Complaints => [{ path: '', message }]

// Paths are put together on the way back, so that what is right costs nothing.
const below = (prefix: string, complaints: readonly Complaint[]): readonly Complaint[] =>
  complaints.map(({ path, message }) => ({ path: prefix + path, message }))

function check(value: unknown, structure: Structure): Complaints {
  const kind = kindFor(structure, value)
  if (value === null) return undefined
  if (kind === 'map') {
    if (!isObject(value) || !structure.map) return complaint(`expected map, got ${goPointer(value)}`)
    return checkMap(value, structure.map)
  }
  if (kind === 'list') {
    if (!isList(value) || !structure.list) return complaint(`expected list, got ${goPointer(value)}`)
    return checkList(value, structure.list)
  }
  return checkScalar(value, structure.scalar ?? 'untyped')
}

function checkMap(value: JsonObject, map: MapType): Complaints {
  let complaints: Complaint[] | undefined
  for (const key of Object.keys(value)) {
    const structure = map.field(key)?.structure ?? map.element()
    const found = structure ? check(value[key], structure) : complaint('field not declared in schema')
    if (found) (complaints ??= []).push(...below(printElement(fieldElement(key)), found))
    if (!structure) break
  }
  return complaints
}

function checkList(items: readonly unknown[], list: ListType): Complaints {
  const seen = new Set<string>()
  let complaints: Complaint[] | undefined
  for (const [at, item] of items.entries()) {
    let element = `i:${at}`
    if (!list.isAtomic) {
      try {
        element = itemElement(list, item)
      } catch (error) {
        if (!(error instanceof ItemError)) throw error
        return [...(complaints ?? []), { path: '', message: `element ${at}: ${error.message}` }]
      }
      if (seen.has(element)) {
        ;(complaints ??= []).push({ path: '', message: `duplicate entries for key ${printElement(element)}` })
      }
      seen.add(element)
    }
    const found = check(item, list.element())
    if (found) (complaints ??= []).push(...below(printElement(element), found))
  }
  return complaints
}

function checkScalar(value: unknown, type: ScalarType): Complaints {
  if (type === 'numeric' && typeof value !== 'number') {
    return complaint(`expected numeric (int or float), got ${goType(value)}`)
  }
  if (type === 'string' && typeof value !== 'string') {
    return complaint(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
  }
  if (type === 'boolean' && typeof value !== 'boolean') return complaint(`expected boolean, got ${goPointer(value)}`)
  if (type === 'untyped' && typeof value === 'object') return complaint(`expected any scalar, got ${goPointer(value)}`)
  return undefined
}

const goPointer = (value: unknown): string => `&{${goValue(value)}}`
