/**
 * JSONPath as columns and selectable fields of custom resources use it: fields (`.a`, `['a']`, with `\.` for a dot in a
 * name), indexes (`[0]`, `[-1]`, `[1:3]`), all items (`[*]`) and filters (`[?(@.type=="Ready")]`).
 */
type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'slice'; readonly from: number; readonly to: number | undefined; readonly isOne: boolean }
  | { readonly type: 'all' }
  | {
      readonly type: 'filter'
      readonly left: Operand
      readonly operator: string | undefined
      readonly right: Operand | undefined
    }

type Operand = { readonly path: JsonPath } | { readonly value: unknown }

export type JsonPath = readonly Step[]

const MAX_PATH_LENGTH = 4096
const FILTER = /^\?\(([^=!<>]+?)(?:\s*(==|!=|<=|>=|<|>)\s*(.+?))?\)$/

/** Returns undefined if the path is invalid. */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (text.length > MAX_PATH_LENGTH) return undefined
  const steps: Step[] = []
  let position = 0
  while (position < text.length) {
    const letter = text[position]
    if (letter === '.') {
      const [name, end] = readName(text, position + 1)
      if (name === '*') steps.push({ type: 'all' })
      else if (name !== '') steps.push({ type: 'field', name })
      else if (text.length > 1 && text[end] !== '[') return undefined
      position = end
    } else if (letter === '[') {
      const end = closing(text, position)
      if (end < 0) return undefined
      const step = parseBracket(text.slice(position + 1, end).trim())
      if (!step) return undefined
      steps.push(step)
      position = end + 1
    } else return undefined
  }
  return steps
}

function readName(text: string, start: number): [string, number] {
  let name = ''
  let position = start
  for (; position < text.length; position++) {
    const letter = text[position]
    if (letter === '\\' && position + 1 < text.length) name += text[++position]
    else if (letter === '.' || letter === '[') break
    else name += letter
  }
  return [name, position]
}

/** Returns the index of the bracket that closes the one at `start`. Brackets in quotes are ignored. */
function closing(text: string, start: number): number {
  let depth = 0
  let quote = ''
  for (let position = start; position < text.length; position++) {
    const letter = text[position] ?? ''
    if (quote) quote = letter === quote ? '' : quote
    else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '[') depth++
    else if (letter === ']' && --depth === 0) return position
  }
  return -1
}

function parseBracket(inner: string): Step | undefined {
  if (inner === '*') return { type: 'all' }
  const quoted = /^(["'])(.*)\1$/.exec(inner)
  if (quoted) return { type: 'field', name: quoted[2] ?? '' }
  const slice = /^(-?\d+)?(:)?(-?\d+)?$/.exec(inner)
  if (slice && inner !== '') {
    const [, from, colon, to] = slice
    return {
      type: 'slice',
      from: Number(from ?? 0),
      to: to === undefined ? undefined : Number(to),
      isOne: colon === undefined,
    }
  }
  const filter = FILTER.exec(inner)
  if (!filter) return undefined
  const [, left = '', operator, right] = filter
  const [leftOperand, rightOperand] = [
    parseOperand(left.trim()),
    right === undefined ? undefined : parseOperand(right.trim()),
  ]
  if (!leftOperand || (right !== undefined && !rightOperand)) return undefined
  return { type: 'filter', left: leftOperand, operator, right: rightOperand }
}

function parseOperand(text: string): Operand | undefined {
  if (text.startsWith('@')) {
    const path = parseJsonPath(text.slice(1))
    return path && { path }
  }
  const quoted = /^(["'])(.*)\1$/.exec(text)
  if (quoted) return { value: quoted[2] }
  if (text === 'true' || text === 'false') return { value: text === 'true' }
  return /^-?\d+(\.\d+)?$/.test(text) ? { value: Number(text) } : undefined
}

/** Returns all values at the path. */
export function findAll(path: JsonPath, value: unknown): readonly unknown[] {
  let found: readonly unknown[] = [value]
  for (const step of path) {
    found = found.flatMap((each) => follow(step, each))
    if (found.length === 0) break
  }
  return found
}

function follow(step: Step, value: unknown): readonly unknown[] {
  switch (step.type) {
    case 'field': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
      return Object.hasOwn(value, step.name) ? [(value as Record<string, unknown>)[step.name]] : []
    }
    case 'slice': {
      if (!Array.isArray(value)) return []
      if (step.isOne) return value.slice(step.from, step.from === -1 ? undefined : step.from + 1)
      return value.slice(step.from, step.to)
    }
    case 'all':
      if (Array.isArray(value)) return value
      return typeof value === 'object' && value !== null ? Object.values(value) : []
    default:
      return Array.isArray(value) ? value.filter((item) => passes(step, item)) : []
  }
}

function passes({ left, operator, right }: Extract<Step, { type: 'filter' }>, item: unknown): boolean {
  const first = valueOf(left, item)
  if (!right) return first !== undefined
  const second = valueOf(right, item)
  if (first === undefined || second === undefined) return false
  switch (operator) {
    case '==':
      return first === second
    case '!=':
      return first !== second
    default: {
      if (typeof first !== typeof second) return false
      const [a, b] = [first as number, second as number]
      return operator === '<' ? a < b : operator === '>' ? a > b : operator === '<=' ? a <= b : a >= b
    }
  }
}

function valueOf(operand: Operand, item: unknown): unknown {
  return 'path' in operand ? findAll(operand.path, item)[0] : operand.value
}
