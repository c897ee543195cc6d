/** The tokens of a YAML text; indentation is expressed as start and end tokens. */

export type Token = Placed &
  (
    | { readonly type: Plain }
    | { readonly type: 'alias' | 'anchor'; readonly name: string }
    | { readonly type: 'tag'; readonly handle: string; readonly suffix: string }
    | { readonly type: 'scalar'; readonly text: string; readonly isPlain: boolean }
    | { readonly type: 'version'; readonly version: string }
    | { readonly type: 'handle'; readonly handle: string; readonly prefix: string }
  )

interface Placed {
  /** Its first line, from 0. */
  readonly start: number
  /** The line after which the next token begins, from 0. */
  readonly end: number
  /** The collection in which the token may begin a key: 0 is the block, 1 the outermost flow collection. -1: in none. */
  readonly keyLevel: number
}

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
