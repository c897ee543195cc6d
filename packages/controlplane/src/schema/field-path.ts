import type { Schema } from './types.ts'

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
])

/**
 * A rule's `fieldPath` (`.spec.list`, `['a.b']`) as fields are written in errors, relative to the rule's schema; undefined
 * if it is malformed or the schema has no such field.
 */
export function fieldPathOf(path: string, schema: Schema): string | undefined {
  let current: Schema = schema
  let written = ''
  let rest = path
  while (rest !== '') {
    const match = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest)
    if (!match) return undefined
    const name = match[1] ?? unescape(match[2] ?? '')
    if (name === undefined) return undefined
    if (current.properties !== undefined) {
      const property = Object.hasOwn(current.properties, name) ? current.properties[name] : undefined
      if (!property) return undefined
      written += written === '' ? name : `.${name}`
      current = property
    } else if (typeof current.additionalProperties === 'object') {
      written += `[${name}]`
      current = current.additionalProperties
    } else return undefined
    rest = rest.slice(match[0].length)
  }
  return written === '' ? undefined : written
}

function unescape(text: string): string | undefined {
  let isWrong = false
  const plain = text.replace(/\\(.)/g, (_, character: string) => {
    const escaped = ESCAPES.get(character)
    if (escaped === undefined) isWrong = true
    return escaped ?? ''
  })
  return isWrong ? undefined : plain
}
