/** Scans the properties of a node or a document: anchors, aliases, tags and directives. */
import type { Cursor } from './cursor.ts'

/** The name of an anchor or alias after its indicator. */
export function scanName(cursor: Cursor): string {
  const start = cursor.line
  cursor.skip()
  const name = take(cursor, /[\w-]*/y)
  if (name === '' || !(cursor.isSpaceOrEnd() || '?:,]}%@`'.includes(cursor.peek()))) {
    throw cursor.error('did not find expected alphabetic or numeric character', start)
  }
  return name
}

export interface Tag {
  /** Empty for a verbatim tag. */
  readonly handle: string
  readonly suffix: string
}

const URI = /(?:[\w\-;/?:@&=+$,.!~*'()[\]]|%[\da-fA-F]{2})*/y

export function scanTag(cursor: Cursor): Tag {
  const start = cursor.line
  const tag = cursor.peek(1) === '<' ? verbatim(cursor, start) : shorthand(cursor, start)
  if (!cursor.isSpaceOrEnd()) throw cursor.error('did not find expected whitespace or line break', start)
  return tag
}

function verbatim(cursor: Cursor, start: number): Tag {
  cursor.skip(2)
  const suffix = uri(cursor, start)
  if (cursor.peek() !== '>') throw cursor.error("did not find the expected '>'", start)
  cursor.skip()
  return { handle: '', suffix }
}

function shorthand(cursor: Cursor, start: number): Tag {
  const handle = take(cursor, /![\w-]*!/y)
  if (handle !== '') return { handle, suffix: uri(cursor, start) }
  cursor.skip()
  const suffix = takeUri(cursor, start)
  // A lone indicator is a tag: the scalar is text.
  return suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix }
}

function uri(cursor: Cursor, start: number): string {
  const text = takeUri(cursor, start)
  if (text === '') throw cursor.error('did not find expected tag URI', start)
  return text
}

function takeUri(cursor: Cursor, start: number): string {
  const text = take(cursor, URI)
  if (cursor.peek() === '%') throw cursor.error('did not find URI escaped octet', start)
  try {
    return decodeURIComponent(text)
  } catch {
    throw cursor.error('found an incorrect leading UTF-8 octet', start)
  }
}

function take(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at
  const found = pattern.exec(cursor.text)?.[0] ?? ''
  cursor.skip(found.length)
  return found
}

export type Directive =
  | { readonly type: 'version'; readonly version: string }
  | { readonly type: 'handle'; readonly handle: string; readonly prefix: string }

export function scanDirective(cursor: Cursor): Directive {
  const start = cursor.line
  cursor.skip()
  const name = take(cursor, /[\w-]*/y)
  if (name === '') throw cursor.error('could not find expected directive name', start)
  if (!cursor.isSpaceOrEnd()) throw cursor.error('found unexpected non-alphabetical character', start)
  const directive = name === 'YAML' ? version(cursor, start) : name === 'TAG' ? handle(cursor, start) : undefined
  if (!directive) throw cursor.error('found unknown directive name', start)
  cursor.skipBlanks()
  cursor.skipComment()
  if (!cursor.isBreakOrEnd()) throw cursor.error('did not find expected comment or line break', start)
  cursor.readBreak()
  return directive
}

function version(cursor: Cursor, start: number): Directive {
  cursor.skipBlanks()
  const major = take(cursor, /\d*/y)
  if (major === '') throw cursor.error('did not find expected version number', start)
  if (cursor.peek() !== '.') throw cursor.error("did not find expected digit or '.' character", start)
  cursor.skip()
  const minor = take(cursor, /\d*/y)
  if (minor === '') throw cursor.error('did not find expected version number', start)
  return { type: 'version', version: `${Number(major)}.${Number(minor)}` }
}

function handle(cursor: Cursor, start: number): Directive {
  cursor.skipBlanks()
  const name = take(cursor, /![\w-]*!|!/y)
  if (name === '') throw cursor.error("did not find expected '!'", start)
  if (!cursor.isBlank()) throw cursor.error('did not find expected whitespace', start)
  cursor.skipBlanks()
  const prefix = uri(cursor, start)
  if (!cursor.isSpaceOrEnd()) throw cursor.error('did not find expected whitespace or line break', start)
  return { type: 'handle', handle: name, prefix }
}
