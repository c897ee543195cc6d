import type { JsonObject } from '@tenure/kube/model'

interface Common {
  /** Description for help and reference: a sentence or two. */
  readonly meaning: string
  /** Default: the key in kebab-case. False: no flag. */
  readonly flag?: string | false
  /** Default: the key in CONSTANT_CASE after the program's prefix. False: not from the environment. */
  readonly environment?: string | false
  /** Key in the file, with dots for nesting. Default: the key. False: not from the file. */
  readonly file?: string | false
  /** Never shown in messages, help or logs. Default false. */
  readonly secret?: boolean
  /** Refuse to start without it. Default false. */
  readonly required?: boolean
  /** Has no meaning on the embedded control plane, so programs that run there do not offer it. Default false. */
  readonly clusterOnly?: boolean
}

/** One row of a program's table. Without a default the value may be undefined. */
export type Option = Common &
  (
    | { readonly type: 'string'; readonly default?: string; readonly choices?: readonly string[] }
    | { readonly type: 'integer'; readonly default?: number; readonly min?: number; readonly max?: number }
    | { readonly type: 'boolean'; readonly default?: boolean }
    /** In Go's notation; the value is in milliseconds. */
    | { readonly type: 'duration'; readonly default?: string; readonly min?: string; readonly max?: string }
    /** Separated by commas, or given several times. */
    | { readonly type: 'list'; readonly default?: readonly string[] }
    /** A listen address: `:8081`, `127.0.0.1:8081`, `0` for none. The value is the validated text. */
    | { readonly type: 'address'; readonly default?: string }
    /** A mapping, which only the file can hold. The program checks its content. */
    | {
        readonly type: 'structure'
        readonly default?: JsonObject
        readonly flag: false
        readonly environment: false
        readonly file?: string
      }
  )

export type Table = Readonly<Record<string, Option>>

interface ValueTypes {
  readonly string: string
  readonly integer: number
  readonly boolean: boolean
  readonly duration: number
  readonly list: readonly string[]
  readonly address: string
  readonly structure: JsonObject
}

export type Value = ValueTypes[keyof ValueTypes]

type ValueOf<O extends Option> = O extends { readonly choices: readonly (infer C)[] } ? C : ValueTypes[O['type']]

/** The typed result of a table. */
export type Values<T extends Table> = {
  readonly [K in keyof T]: T[K] extends { readonly default: unknown } | { readonly required: true }
    ? ValueOf<T[K]>
    : ValueOf<T[K]> | undefined
}
