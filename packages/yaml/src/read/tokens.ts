/** The tokens of a YAML text; indentation is expressed as start and end tokens. */
import type { Mark } from './cursor.ts'

export type Token = { readonly start: Mark; readonly end: Mark } & (
  | { readonly type: Plain }
  | { readonly type: 'alias' | 'anchor'; readonly name: string }
  | { readonly type: 'tag'; readonly handle: string; readonly suffix: string }
  | { readonly type: 'scalar'; readonly text: string; readonly isPlain: boolean }
  | { readonly type: 'version'; readonly version: string }
  | { readonly type: 'handle'; readonly handle: string; readonly prefix: string }
)

/** Tokens without a value. */
export type Plain =
  | 'stream end'
  | 'document start'
  | 'document end'
  | 'block sequence'
  | 'block mapping'
  | 'block end'
  | 'flow sequence'
  | 'flow mapping'
  | 'flow sequence end'
  | 'flow mapping end'
  | 'block entry'
  | 'flow entry'
  | 'key'
  | 'value'
