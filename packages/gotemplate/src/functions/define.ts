/** Declares functions with the types of their parameters. */
import type { FunctionContext, GoFunction, ParameterType } from '../values/go-function.ts'
import { GoInt, GoList } from '../values/values.ts'
import type { GoMap, GoStruct, GoValue } from '../values/values.ts'

interface Types {
  readonly 'reflect.Value': GoValue
  readonly 'interface {}': GoValue
  readonly string: string
  readonly bool: boolean
  readonly int: number
  readonly int64: bigint
  readonly uint32: number
  readonly float64: number
  readonly 'time.Duration': bigint
  readonly 'time.Time': GoStruct
  readonly '[]interface {}': readonly GoValue[] | null
  readonly 'map[string]interface {}': GoMap | null
  readonly 'sprig.certificate': GoStruct
  readonly '*semver.Version': GoStruct
  readonly 'io.Writer': GoValue
}

type Arguments<P extends readonly ParameterType[]> = { -readonly [K in keyof P]: Types[P[K]] }

function convert(value: GoValue, type: ParameterType | undefined): unknown {
  switch (type) {
    case 'int':
    case 'uint32':
      return value instanceof GoInt ? Number(value.value) : 0
    case 'int64':
    case 'time.Duration':
      return value instanceof GoInt ? value.value : 0n
    case '[]interface {}':
      return value instanceof GoList ? (value.isNil ? null : value.items) : value
    default:
      return value
  }
}

const CONVERTED: ReadonlySet<ParameterType> = new Set(['int', 'uint32', 'int64', 'time.Duration', '[]interface {}'])

/** A function with a fixed number of parameters. */
export function fn<const P extends readonly ParameterType[]>(
  name: string,
  parameters: P,
  call: (args: Arguments<P>, context: FunctionContext) => GoValue,
): GoFunction {
  const isConverted = parameters.some((type) => CONVERTED.has(type))
  return {
    name,
    parameters,
    isVariadic: false,
    call: (values, context) => {
      const args = isConverted ? values.map((value, index) => convert(value, parameters[index])) : values
      return call(args as unknown as Arguments<P>, context)
    },
  }
}

/** A function whose last parameter takes any number of arguments. */
export function variadic<const P extends readonly ParameterType[], const R extends ParameterType>(
  name: string,
  parameters: P,
  restType: R,
  call: (args: Arguments<P>, rest: Types[R][], context: FunctionContext) => GoValue,
): GoFunction {
  return {
    name,
    parameters: [...parameters, restType],
    isVariadic: true,
    call: (values, context) => {
      const args = values.slice(0, parameters.length).map((value, index) => convert(value, parameters[index]))
      const rest = values.slice(parameters.length).map((value) => convert(value, restType))
      return call(args as unknown as Arguments<P>, rest as Types[R][], context)
    },
  }
}

/** The same function under another name. */
export const alias = (name: string, original: GoFunction): GoFunction => ({ ...original, name })
