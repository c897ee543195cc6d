/** Renders one file of a chart as Helm does. */
import { TemplateError } from '../errors.ts'
import { parseYaml, YamlProblem } from '../data/yaml.ts'
import { fromJavaScript } from '../data/outside-values.ts'
import { ExecutionError } from '../evaluate/state.ts'
import { execute } from '../evaluate/render.ts'
import type { RenderOptions } from '../evaluate/render.ts'
import { Template } from '../template.ts'
import { fromOutside } from '../values/bytes.ts'
import { GoInt } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { capabilities } from './capabilities.ts'
import type { CapabilityOptions } from './capabilities.ts'
import { chartValue } from './chart-metadata.ts'
import { filesValue } from './files.ts'
import { ERROR_END, ERROR_START } from './functions.ts'
import { valuesMap } from './values-methods.ts'

export interface ChartFileOptions extends RenderOptions {
  /** The name of the release, `.Release.Name`. */
  readonly release: string
  /** The namespace of the release. Default: `default`. */
  readonly namespace?: string
  /** The name of the chart. Default: that of the release. */
  readonly chart?: string
  /** Default: `0.1.0`. */
  readonly chartVersion?: string
  /** The path of the file in the chart. Default: `templates/resources.yaml`. */
  readonly file?: string
  /** The revision of the release. Default: 1, an installation. */
  readonly revision?: number
  /** `.Files`, by their paths. Default: none. */
  readonly files?: ReadonlyMap<string, string>
  /** `.Capabilities`. */
  readonly capabilities?: CapabilityOptions
}

const DEFAULT_FILE = 'templates/resources.yaml'

const fileName = ({ chart, release, file }: ChartFileOptions): string => `${chart ?? release}/${file ?? DEFAULT_FILE}`

/**
 * Renders the only file of a chart. `values` are a JSON-like value or YAML text. A template that `parseChartFile` made
 * may be rendered again and again, also as the file of charts with other names. Throws a TemplateError with Helm's
 * message.
 */
export function renderChartFile(template: string | Template, values: unknown, options: ChartFileOptions): string {
  const parsed = typeof template === 'string' ? parseChartFile(template, options) : template
  const name = fileName(options)
  const dot = chartContext(valuesOf(values), name, options)
  try {
    return execute(parsed.set, parsed.name, dot, options)
  } catch (error) {
    throw error instanceof ExecutionError ? withHelmMessage(renamed(error, parsed.name, name)) : error
  }
}

/** The nodes of a template keep the name that it was parsed with; the error names the file that was rendered. */
function renamed(error: ExecutionError, from: string, to: string): ExecutionError {
  return from === to ? error : new ExecutionError(error.message.replaceAll(from, to), { cause: error })
}

/** Parses a file of a chart for `renderChartFile`. The options name it in errors. Throws a TemplateError. */
export function parseChartFile(text: string, options: ChartFileOptions): Template {
  try {
    return new Template(fileName(options), fromOutside(text))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    // Helm keeps the place and the last part of the message.
    const parts = error.message.split(': ')
    throw new TemplateError(error.code, `parse error at (${parts[1]}): ${parts.at(-1)}`, { cause: error })
  }
}

function withHelmMessage(error: ExecutionError): ExecutionError {
  const match = /^template: (.*?): (.*)$/s.exec(error.message)
  const rest = match?.[2] ?? ''
  const start = rest.indexOf(ERROR_START)
  const end = rest.lastIndexOf(ERROR_END)
  if (start < 0 || end < start) return error
  const message = rest.slice(start + ERROR_START.length, end)
  return new ExecutionError(`execution error at (${match?.[1]}): ${message}`, { cause: error })
}

function valuesOf(values: unknown): ReadonlyMap<string, GoValue> {
  let value: GoValue
  try {
    value = typeof values === 'string' ? parseYaml(fromOutside(values)) : fromJavaScript(values)
  } catch (error) {
    if (!(error instanceof YamlProblem || error instanceof RangeError)) throw error
    throw new TemplateError('values', error.message, { cause: error })
  }
  if (value === null) return new Map()
  if (value instanceof Map) return value
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw new TemplateError(
    'values',
    `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type chartutil.Values`,
  )
}

/** The dot of the file: `.Values`, `.Release` and the rest. */
function chartContext(values: ReadonlyMap<string, GoValue>, name: string, options: ChartFileOptions): GoValue {
  const chart = options.chart ?? options.release
  const revision = options.revision ?? 1
  return valuesMap([
    ['Values', valuesMap(values)],
    [
      'Release',
      new Map<string, GoValue>([
        ['IsInstall', revision === 1],
        ['IsUpgrade', revision !== 1],
        ['Name', options.release],
        ['Namespace', options.namespace ?? 'default'],
        ['Revision', new GoInt('int', BigInt(revision))],
        ['Service', 'Helm'],
      ]),
    ],
    ['Chart', chartValue(chart, options.chartVersion ?? '0.1.0')],
    ['Capabilities', capabilities(options.capabilities)],
    ['Files', filesValue(options.files ?? new Map())],
    ['Subcharts', new Map<string, GoValue>()],
    [
      'Template',
      valuesMap([
        ['BasePath', `${chart}/templates`],
        ['Name', name],
      ]),
    ],
  ])
}
