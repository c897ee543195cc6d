/** Functions and methods that templates call. */
import type { GoValue } from './values.ts'

/** The types of parameters. `reflect.Value` accepts anything and keeps the absence of a value. */
export type ParameterType =
  | 'reflect.Value'
  | 'interface {}'
  | 'string'
  | 'bool'
  | 'int'
  | 'int64'
  | 'uint32'
  | 'float64'
  | 'time.Duration'
  | 'time.Time'
  | '[]interface {}'
  | 'map[string]interface {}'
  | 'sprig.certificate'
  | '*semver.Version'
  | 'io.Writer'

/** The time, the randomness and the cluster that templates see. */
export interface Environment {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly randomBytes: (count: number) => Uint8Array
  /** The IANA name of the local time zone. */
  readonly timeZone: string
  /** Finds objects of the cluster. */
  readonly lookup: (apiVersion: string, kind: string, namespace: string, name: string) => GoValue
}

/** The part of a rendering that functions use. */
export interface FunctionContext {
  readonly environment: Environment
  /** Counts work that grows with the size of the arguments. Throws when the limit is exceeded. */
  readonly spend: (steps: number) => void
  /** Checks the size of a text before it is made. Throws when the limit is exceeded. */
  readonly allocate: (characters: number) => void
  /** Counts the work of a regular expression before it is done. Throws when the limit is exceeded. */
  readonly spendOnRegexp: (work: number) => void
  /** Throws when the time is up. For work that takes long without many steps. */
  readonly checkTime: () => void
  readonly include: (name: string, data: GoValue) => string
  readonly tpl: (text: string, data: GoValue) => string
}

export interface GoFunction {
  readonly name: string
  readonly parameters: readonly ParameterType[]
  /** Whether the last parameter takes any number of arguments. */
  readonly isVariadic: boolean
  /**
   * Receives arguments of the declared types. A nil interface, map or list is null. Throws a FunctionError with Go's
   * text.
   */
  readonly call: (args: readonly GoValue[], context: FunctionContext) => GoValue
}

/** An error that a function of the template returns; the evaluator adds the place. */
export class FunctionError extends Error {}
