/** Renders the claims of a pool with Helm's engine. */
import { createHash } from 'node:crypto'
import { parseChartFile, renderChartFile, TemplateError } from '@tenure/gotemplate'
import type { RenderLimits, Template } from '@tenure/gotemplate'
import { isJsonObject, ownValue } from '@tenure/kube/model'
import type { JsonObject } from '@tenure/kube/model'
import { readYaml } from '@tenure/yaml'
import { claimSecretName } from '../api/id.ts'
import { readDocuments, yamlProblem } from './documents.ts'
import { isLazy, returnValuesOf } from './return-values.ts'
import { ClaimTemplateError } from './types.ts'
import type { PoolTemplate, RenderedClaim, RenderRequest } from './types.ts'

export interface PoolTemplateOptions {
  readonly templateText: string
  /** YAML or JSON; empty: no values. */
  readonly valuesText: string
  /** The namespace of the claims. */
  readonly namespace: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly randomBytes: (count: number) => Uint8Array
}

/** The name of the chart while it has no id. Errors of rendering show the name of the claim instead. */
const CHART = 'claim-<id>'

/** Callers choose some of the values, so a rendering must not occupy the process for long. */
const LIMITS: RenderLimits = { maxSteps: 1_000_000, maxOutput: 4 * 1024 * 1024, maxTime: 5_000 }

/** In characters. */
const MAX_MESSAGE_LENGTH = 1_000

/** Parses template and values once for many renderings. Throws a ClaimTemplateError. */
export function poolTemplate(options: PoolTemplateOptions): PoolTemplate {
  const template = parsed(options.templateText)
  const values = readValues(options.valuesText)
  const renderer = new Renderer(template, values, options)
  return { revision: revisionOf(options), render: (request) => renderer.render(request) }
}

function revisionOf({ templateText, valuesText }: PoolTemplateOptions): string {
  const hash = createHash('sha256').update(`${templateText.length}:`).update(templateText).update(valuesText)
  return hash.digest('hex').slice(0, 16)
}

function parsed(text: string): Template {
  try {
    return parseChartFile(text, { release: CHART })
  } catch (error) {
    throw claimError(error)
  }
}

function readValues(text: string): JsonObject {
  let value: unknown
  try {
    // Of duplicate keys the last wins, as in Helm.
    value = readYaml(text).value
  } catch (error) {
    throw new ClaimTemplateError(`the values are malformed: ${yamlProblem(error)}`)
  }
  if (value === null) return {}
  if (isJsonObject(value)) return value
  throw new ClaimTemplateError('the values are not a map')
}

class Renderer {
  readonly #template: Template
  readonly #values: JsonObject
  readonly #options: PoolTemplateOptions

  constructor(template: Template, values: JsonObject, options: PoolTemplateOptions) {
    this.#template = template
    this.#values = values
    this.#options = options
  }

  render({ id, values }: RenderRequest): RenderedClaim {
    try {
      return this.#attempt(id, values)
    } catch (error) {
      throw values === undefined || isLimit(error) ? claimError(error) : this.#withoutValues(id, values, error)
    }
  }

  #attempt(id: string, values: JsonObject | undefined): RenderedClaim {
    const { namespace, now, randomBytes } = this.#options
    const release = `claim-${id}`
    const text = renderChartFile(this.#template, withClaim(this.#values, values), {
      release,
      namespace,
      now,
      randomBytes,
      limits: LIMITS,
    })
    const manifests = readDocuments(text, namespace)
    const self = manifests.find(
      ({ apiVersion, kind, metadata }) => apiVersion === 'v1' && kind === 'ConfigMap' && metadata.name === release,
    )
    if (self)
      throw new ClaimTemplateError(`ConfigMap "${release}" has the name of the claim itself; choose another one`)
    const reserved = claimSecretName(release)
    if (manifests.some(({ kind, metadata }) => kind === 'Secret' && metadata.name === reserved))
      throw new ClaimTemplateError(`Secret "${reserved}" has the name of the Secret of the claim; choose another one`)
    return {
      resources: manifests.map((manifest) => ({ manifest, isLazy: isLazy(manifest) })),
      returnValues: returnValuesOf(manifests),
    }
  }

  /**
   * An error that reveals nothing of the caller's values, which may be secret: functions such as `tpl` and `fail` put
   * values into messages, also encoded ones. The template is rendered again with placeholders; if it fails at the same
   * place, that message is used, because it cannot depend on the values.
   */
  #withoutValues(id: string, values: JsonObject, error: unknown): Error {
    const actual = claimError(error)
    const place = placeOf(actual.message)
    try {
      this.#attempt(id, redacted(values) as JsonObject)
    } catch (other) {
      const shown = claimError(other)
      if (place !== '' && placeOf(shown.message) === place) return shown
    }
    const where = place === '' ? 'the template cannot be rendered' : place
    return new ClaimTemplateError(`${where}: failed with the values of this claim`)
  }
}

/** The caller's values are merged over the `claim` of the pool's values. */
function withClaim(values: JsonObject, claim: JsonObject | undefined): JsonObject {
  const preset = ownValue(values, 'claim') ?? {}
  return { ...values, claim: claim === undefined ? preset : merged(preset, claim) }
}

function merged(under: unknown, over: unknown): unknown {
  if (!isJsonObject(under) || !isJsonObject(over)) return over
  const entries = Object.entries(over).map(([key, value]) => [key, merged(ownValue(under, key), value)] as const)
  return { ...under, ...Object.fromEntries(entries) }
}

function redacted(value: unknown): unknown {
  if (typeof value === 'string') return 'value'
  if (typeof value === 'number') return 0
  if (typeof value === 'boolean') return false
  if (Array.isArray(value)) return value.map(redacted)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redacted(item)]))
}

/** The part of a message that comes from the template's text: `template: …: executing … at <…>`. */
function placeOf(message: string): string {
  const match = /^(?:template: .*?>|execution error at \(.*?\)|document \d+(?:, item \d+)*)(?=[: ])/s.exec(message)
  return match?.[0] ?? ''
}

/** Limits and the depth of values say nothing about the values. */
const isLimit = (error: unknown): boolean =>
  error instanceof TemplateError && (error.code === 'limit' || error.code === 'values')

/** `tpl` quotes its whole text, which usually is the pool's values. */
const QUOTED_TEXT = /(error during tpl function execution|cannot parse template)(?: for)? "(?:[^"\\]|\\.)*"/gs

function claimError(error: unknown): Error {
  if (!(error instanceof TemplateError)) return error as Error
  const message = error.message.replaceAll(QUOTED_TEXT, '$1')
  return new ClaimTemplateError(
    message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message,
  )
}
