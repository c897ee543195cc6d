import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { append } from '../model/append.ts'
import { goSyntax, goType, goValue } from '../patch/go-format.ts'
import { isList } from '../patch/json.ts'
import { itemElements, itemProblem, valueTypeFor } from './fields/value-type.ts'
import { compareText, fieldElement, printElement } from './fields/path-element.ts'
import type { ListType, MapType, ScalarType, Structure } from './fields/structure.ts'

interface FieldProblem {
  readonly path: string
  readonly message: string
}

type FieldProblems = readonly FieldProblem[] | undefined

/** Why an object does not fit its schema, in kube-apiserver's words; undefined if it fits. */
export function typeErrors(object: unknown, structure: Structure): string | undefined {
  const problems = check(object, structure)
  if (!problems) return undefined
  const lines = problems
    .toSorted((a, b) => compareText(a.path, b.path))
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return lines.length > 1 ? ['errors:', ...lines.map((line) => `  ${line}`)].join('\n') : lines[0]
}

const problem = (message: string): FieldProblems => [{ path: '', message }]

// Paths are assembled on the way back, so that valid objects cost nothing.
const below = (prefix: string, problems: readonly FieldProblem[]): readonly FieldProblem[] =>
  problems.map(({ path, message }) => ({ path: prefix + path, message }))

function check(value: unknown, structure: Structure): FieldProblems {
  const kind = valueTypeFor(structure, value)
  if (value === null) return undefined
  if (kind === 'map') {
    if (!isJsonObject(value) || !structure.map) return problem(`expected map, got ${goPointer(value)}`)
    return checkMap(value, structure.map)
  }
  if (kind === 'list') {
    if (!isList(value) || !structure.list) return problem(`expected list, got ${goPointer(value)}`)
    return checkList(value, structure.list)
  }
  return checkScalar(value, structure.scalar ?? 'untyped')
}

function checkMap(value: JsonObject, map: MapType): FieldProblems {
  let problems: FieldProblem[] | undefined
  for (const key of Object.keys(value)) {
    const structure = map.field(key)?.structure ?? map.element()
    const found = structure ? check(value[key], structure) : problem('field not declared in schema')
    if (found) append((problems ??= []), below(printElement(fieldElement(key)), found))
    if (!structure) break
  }
  return problems
}

function checkList(items: readonly unknown[], list: ListType): FieldProblems {
  const seen = new Set<string>()
  const elements = list.isAtomic ? [] : itemElements(list, items)
  let problems: FieldProblem[] | undefined
  for (const [at, item] of items.entries()) {
    const element = list.isAtomic ? `i:${at}` : elements[at]
    if (element === undefined) {
      return [...(problems ?? []), { path: '', message: `element ${at}: ${itemProblem(list, item)}` }]
    }
    if (!list.isAtomic) {
      if (seen.has(element)) {
        ;(problems ??= []).push({ path: '', message: `duplicate entries for key ${printElement(element)}` })
      }
      seen.add(element)
    }
    const found = check(item, list.element())
    if (found) append((problems ??= []), below(printElement(element), found))
  }
  return problems
}

function checkScalar(value: unknown, type: ScalarType): FieldProblems {
  if (type === 'numeric' && typeof value !== 'number') {
    return problem(`expected numeric (int or float), got ${goType(value)}`)
  }
  if (type === 'string' && typeof value !== 'string') {
    return problem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
  }
  if (type === 'boolean' && typeof value !== 'boolean') return problem(`expected boolean, got ${goPointer(value)}`)
  if (type === 'untyped' && typeof value === 'object') return problem(`expected any scalar, got ${goPointer(value)}`)
  return undefined
}

const goPointer = (value: unknown): string => `&{${goValue(value)}}`
