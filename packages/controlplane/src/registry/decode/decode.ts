import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import type { KubeObject, ObjectMeta } from '@tenure/kube'
import { badRequest, invalid } from '../../errors.ts'
import type { StatusError } from '../../errors.ts'
import { append } from '../../model/append.ts'
import { decodeMetadata } from '../../schema/decode/decode-metadata.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import { MAX_REPORTED_FIELDS } from '../../schema/decode/field-paths.ts'
import { goQuote } from '../../schema/go-text.ts'
import type { FieldError, Schema } from '../../schema/types.ts'
import type { RegistryContext } from '../context.ts'
import { DecodeError } from './decode-error.ts'
import { APPLY_PATCH } from '../request.ts'
import type { ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

export interface Decoded {
  /** Defaulted and pruned, its metadata in order. */
  readonly object: KubeObject
  /** Errors of the schema. */
  readonly errors: readonly FieldError[]
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group ? `${group}/${version}` : version
}

/** Decodes the request's body, or the result of a patch, as an object of its kind. Throws a DecodeError if it is not. */
export function decode(
  context: RegistryContext,
  request: ResourceRequest,
  body: unknown,
  warn: (warning: string) => void,
  old?: KubeObject,
): Decoded {
  const { definition } = request
  if (!isJsonObject(body)) {
    const mismatch = { jsonType: typeName(body), goType: `v1.${definition.kind}` }
    throw new DecodeError(
      `json: cannot unmarshal ${mismatch.jsonType} into Go value of type ${mismatch.goType}`,
      mismatch,
    )
  }
  if (!definition.isBuiltIn && !isOwn(definition, body)) return decodeForeign(context, request, body, warn)
  checkKind(context, definition, body)
  const unknown: string[] = []
  const { apiVersion: _, kind: __, ...rest } = body
  const raw = { kind: definition.kind, apiVersion: apiVersionOf(definition), ...rest }
  const decoded = processed(context, definition, raw, unknown, old, request.patchType === APPLY_PATCH)
  report(request, unknown, warn)
  return decoded
}

const isOwn = (definition: ResourceDefinition, { apiVersion, kind }: JsonObject): boolean =>
  apiVersion === apiVersionOf(definition) && kind === definition.kind

/**
 * A custom resource with another kind or version: its fields are unknown, so they are neither defaulted nor pruned, and
 * the kind or version is the error.
 */
function decodeForeign(
  context: RegistryContext,
  request: ResourceRequest,
  body: JsonObject,
  warn: (warning: string) => void,
): Decoded {
  const { definition } = request
  const expected = apiVersionOf(definition)
  const { apiVersion = '', kind } = body
  if (kind === undefined || kind === null || kind === '') {
    throw new DecodeError(`Object 'Kind' is missing in '${JSON.stringify(deeplySorted(body))}'`)
  }
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw new DecodeError(mistypedKind(body))
  }
  if (apiVersion !== expected && kind === definition.kind && apiVersion.startsWith(`${definition.group}/`)) {
    const version = apiVersion.slice(definition.group.length + 1)
    const { apiVersion: _, kind: __, metadata: ___, ...rest } = body
    // No fields are known of a version that is not served.
    const isServed = context.catalog.find(definition.group, version, definition.plural) !== undefined
    report(request, isServed ? [] : Object.keys(rest).toSorted(), warn)
  }
  if (apiVersion !== expected && request.verb !== 'patch') throw otherVersion(apiVersion, expected)
  const metadata = decodeMetadata(body['metadata'] ?? {})
  if (metadata.error !== undefined) throw new DecodeError(metadata.error, metadata.mismatch)
  return {
    object: { ...body, metadata: metadata.object as ObjectMeta },
    errors: [
      ...(kind === definition.kind ? [] : [misnamed('kind', kind, definition.kind)]),
      ...(apiVersion === expected ? [] : [misnamed('apiVersion', apiVersion, expected)]),
    ],
  }
}

const misnamed = (field: string, value: string, right: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: must be ${right}`,
})

const otherVersion = (sent: string, expected: string): StatusError =>
  badRequest(`the API version in the data (${sent}) does not match the expected API version (${expected})`)

/** Why apiVersion and kind cannot be read; empty if they can. */
export function mistypedKind({ apiVersion = '', kind = '' }: JsonObject): string {
  const field = typeof apiVersion === 'string' ? 'kind' : 'apiVersion'
  const what = typeName(field === 'kind' ? kind : apiVersion)
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go struct field .${field} of type string`
}

/** Types, defaults and schema errors of an object of a known kind, also after admission changed it. */
export function processed(
  context: RegistryContext,
  definition: ResourceDefinition,
  raw: KubeObject,
  unknown: string[],
  old: KubeObject | undefined,
  keepsNulls = false,
): Decoded {
  const { schema, strategy } = definition
  const resolve = (ref: string): Schema => definition.resolve(ref)
  let object = raw
  let errors: readonly FieldError[] = []
  if (definition.isBuiltIn && schema) {
    const result = decodeBuiltIn(schema, resolve, raw)
    if (result.error !== undefined) throw new DecodeError(result.error, result.mismatch)
    append(unknown, result.unknown)
    object = result.object as KubeObject
  } else {
    const metadata = decodeMetadata(raw.metadata ?? {})
    if (metadata.error !== undefined) throw new DecodeError(metadata.error, metadata.mismatch)
    append(
      unknown,
      metadata.unknown.map((path) => `metadata.${path}`),
    )
    object = { ...raw, metadata: metadata.object as ObjectMeta }
    if (schema) {
      const result = context.process(schema, resolve, object, {
        default: true,
        prune: true,
        keepsNulls,
        ...(old && { old }),
      })
      append(unknown, result.unknown)
      object = result.object as KubeObject
      errors = result.errors
    }
  }
  return { object: strategy.defaults?.(object) ?? object, errors }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
}

/** Kind, group and version. */
export type KindNames = Pick<ResourceDefinition, 'group' | 'version' | 'kind'>

/** Accepts a body of this kind or without one. Throws a DecodeError if it has another. */
export function checkKind({ catalog }: RegistryContext, definition: KindNames, body: JsonObject): void {
  const expected = apiVersionOf(definition)
  const { apiVersion = expected, kind = definition.kind } = body
  if (apiVersion === expected && kind === definition.kind) return
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new DecodeError(mistypedKind(body))
  }
  if (apiVersion === '' || kind === '') return
  const known = catalog.all().find((other) => other.kind === kind && apiVersionOf(other) === apiVersion)
  if (!known) {
    throw new DecodeError(
      `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  if (kind === definition.kind) {
    throw otherVersion(apiVersion, expected)
  }
  // It is decoded as its own kind before the mismatch is reported.
  const { schema } = known
  const { error } = known.isBuiltIn && schema ? decodeBuiltIn(schema, (ref) => known.resolve(ref), body) : {}
  if (error !== undefined) throw new DecodeError(error)
  const slash = apiVersion.indexOf('/')
  throw new DecodeError(
    `converting (${apiVersion.slice(slash + 1)}.${kind}) to (${definition.group.split('.')[0] || 'core'}.${definition.kind}): unknown conversion`,
  )
}

/** Unknown fields and duplicate keys: refused, warned of or ignored, as fieldValidation says. */
export function report(request: ResourceRequest, unknown: readonly string[], warn: (warning: string) => void): void {
  const { fieldValidation = 'Warn' } = request.options
  const { duplicateKeys } = request
  if (fieldValidation === 'Ignore' || (unknown.length === 0 && !duplicateKeys)) return
  const fields = unknown.slice(0, MAX_REPORTED_FIELDS).map((path) => `unknown field ${goQuote(path)}`)
  if (fieldValidation === 'Strict') {
    throw new DecodeError(
      `strict decoding error: ${[...(duplicateKeys ? [duplicateKeys.error] : []), ...fields].join(', ')}`,
    )
  }
  for (const warning of [...(duplicateKeys?.warnings ?? []), ...fields]) warn(warning)
}

/** The error for an object that cannot be decoded. */
export function undecodable(definition: KindNames, body: unknown, { message }: DecodeError): StatusError {
  if (!isJsonObject(body)) {
    return badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${message}`)
  }
  const { kind, apiVersion } = body
  const version = typeof apiVersion === 'string' && apiVersion ? apiVersion.split('/').at(-1) : definition.version
  return badRequest(
    `${typeof kind === 'string' && kind ? kind : definition.kind} in version "${version}" cannot be handled as a ${definition.kind}: ${message}`,
  )
}

/** The error for a patch whose result cannot be decoded; the fields of a custom resource are sorted at all levels. */
export function unpatchable(patched: unknown, { message }: DecodeError, isBuiltIn = true): StatusError {
  return invalid({ group: '', plural: '', kind: '' }, '', [
    {
      reason: 'FieldValueInvalid',
      field: 'patch',
      message: `Invalid value: ${JSON.stringify(JSON.stringify(isBuiltIn ? sorted(patched) : deeplySorted(patched)))}: ${message}`,
    },
  ])
}

/** Go writes the fields of a patched object by name; their contents keep their order. */
function sorted(value: unknown): unknown {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value
}

function deeplySorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeplySorted)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, deeplySorted(item)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
