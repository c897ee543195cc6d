import type { KubeObject } from '@tenure/kube'
import { badRequest } from '../../errors.ts'
import type { ResourceDefinition } from '../types.ts'

export interface FieldSelection {
  /** Undefined selects all objects. */
  readonly test: ((object: KubeObject) => boolean) | undefined
  /** Set if only one name can match, so that not all objects need to be read. */
  readonly name: string | undefined
  /** The same for the namespace. */
  readonly namespace: string | undefined
}

interface Term {
  readonly field: string
  readonly equal: boolean
  readonly value: string
  readonly read: (object: KubeObject) => string
}

const EVERYTHING: FieldSelection = { test: undefined, name: undefined, namespace: undefined }

/** Kinds whose conversion reports unknown fields with a shorter message. */
const TERSE = new Set(['pods', 'nodes', 'namespaces', 'secrets', 'events', 'replicationcontrollers', 'services'])

export function parseFieldSelector(text: string, definition: ResourceDefinition): FieldSelection {
  if (text === '') return EVERYTHING
  const terms = split(text).map((term): Term => {
    const { field, equal, value } = parseTerm(text, term)
    return { field, equal, value, read: reader(field, definition) }
  })
  const exact = (field: string) => terms.find((term) => term.field === field && term.equal)?.value
  return {
    test: (object) => terms.every(({ read, equal, value }) => (read(object) === value) === equal),
    name: exact('metadata.name'),
    namespace: exact('metadata.namespace'),
  }
}

/** The only name that a selector can match; undefined if there may be others or it is malformed. */
export function selectedName(text: string): string | undefined {
  try {
    return split(text)
      .map((term) => parseTerm(text, term))
      .find(({ field, equal }) => field === 'metadata.name' && equal)?.value
  } catch {
    return undefined
  }
}

function reader(field: string, definition: ResourceDefinition): (object: KubeObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata?.name ?? ''
  if (field === 'metadata.namespace' && (definition.namespaced || !definition.isBuiltIn)) {
    return (object) => object.metadata?.namespace ?? ''
  }
  const fields = definition.strategy.selectableFields
  const own = fields && Object.hasOwn(fields, field) ? fields[field] : undefined
  if (own) return own
  if (TERSE.has(definition.bucket)) throw badRequest(`field label not supported: ${field}`)
  const known =
    definition.namespaced || !definition.isBuiltIn ? ['metadata.name', 'metadata.namespace'] : ['metadata.name']
  const all = [...known, ...Object.keys(fields ?? {})].map((name) => JSON.stringify(name))
  throw badRequest(
    definition.isBuiltIn
      ? `"${field}" is not a known field selector: only ${all.join(', ')}`
      : `field label not supported: ${field}`,
  )
}

/** Splits at commas without a backslash and drops empty parts. */
function split(text: string): readonly string[] {
  const terms: string[] = []
  let term = ''
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (letter === ',') {
      terms.push(term)
      term = ''
    } else if (letter === '\\') term += letter + text.charAt(++at)
    else term += letter
  }
  return [...terms, term].filter((part) => part !== '')
}

function parseTerm(text: string, term: string): { field: string; equal: boolean; value: string } {
  const [, field = '', operator, value = ''] = /^((?:[^=!\\]|\\.)*?)(==|!=|=)(.*)$/s.exec(term) ?? []
  if (!operator) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
  return { field, equal: operator !== '!=', value: unescape(value) }
}

function unescape(value: string): string {
  let result = ''
  for (let at = 0; at < value.length; at++) {
    const letter = value.charAt(at)
    if (letter === '\\') {
      const escaped = value.charAt(++at)
      if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`)
      }
      result += escaped
    } else if (letter === '=' || letter === ',') {
      throw badRequest(`invalid field selector: unescaped character in value: ${letter.charCodeAt(0)}`)
    } else result += letter
  }
  return result
}
