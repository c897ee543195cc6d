import type { KubeObject, ObjectMeta } from '@tenure/kube'
import { badRequest, invalid } from '../../errors.ts'
import type { StatusError } from '../../errors.ts'
import { decodeMetadata } from '../../schema/decode/decode-metadata.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import { goQuote } from '../../schema/go-text.ts'
import type { FieldError, Schema } from '../../schema/types.ts'
import type { RegistryContext } from '../context.ts'
import { DecodeError } from './decode-error.ts'
import { isObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { APPLY_PATCH } from '../request.ts'
import type { ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

export interface Decoded {
  /** Defaulted and pruned, its metadata in order. */
  readonly object: KubeObject
  /** What the schema has against it. */
  readonly errors: readonly FieldError[]
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group ? `${group}/${version}` : version
}

/** An object of the request's kind out of what was sent or patched. Throws a DecodeError if it is none. */
export function decode(
  context: RegistryContext,
  request: ResourceRequest,
  body: unknown,
  warn: (warning: string) => void,
  old?: KubeObject,
): Decoded {
  const { definition } = request
  if (!isObject(body))
    throw new DecodeError(`json: cannot unmarshal ${typeName(body)} into Go value of type v1.${definition.kind}`)
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
 * What is sent as a custom resource under another name: nothing is known of its fields, so they are neither defaulted nor
 * pruned, and the name is what is wrong with it.
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
    // Of a version that is not served, no field is known.
    const isServed = context.catalog.find(definition.group, version, definition.plural) !== undefined
    report(request, isServed ? [] : Object.keys(rest).toSorted(), warn)
  }
  if (apiVersion !== expected && request.verb !== 'patch') throw otherVersion(apiVersion, expected)
  const metadata = decodeMetadata(body['metadata'] ?? {})
  if (metadata.error !== undefined) throw new DecodeError(metadata.error)
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

/** Why what names a kind can not be read; undefined if it can. */
export function mistypedKind({ apiVersion = '', kind = '' }: JsonObject): string {
  const field = typeof apiVersion === 'string' ? 'kind' : 'apiVersion'
  const what = typeName(field === 'kind' ? kind : apiVersion)
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go struct field .${field} of type string`
}

/** Types, defaults and schema of an object that has its kind: also after admission changed it. */
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
    if (result.error !== undefined) throw new DecodeError(result.error)
    unknown.push(...result.unknown)
    object = result.object as KubeObject
  } else {
    const metadata = decodeMetadata(raw.metadata ?? {})
    if (metadata.error !== undefined) throw new DecodeError(metadata.error)
    unknown.push(...metadata.unknown.map((path) => `metadata.${path}`))
    object = { ...raw, metadata: metadata.object as ObjectMeta }
    if (schema) {
      const result = context.process(schema, resolve, object, {
        default: true,
        prune: true,
        keepsNulls,
        ...(old && { old }),
      })
      unknown.push(...result.unknown)
      object = result.object as KubeObject
      errors = result.errors
    }
  }
  return { object: strategy.defaults?.(object) ?? object, errors }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
}

/** What names a kind, and whose group and version that is. */
export type KindNames = Pick<ResourceDefinition, 'group' | 'version' | 'kind'>

/** Whether a body says that it is of this kind, or nothing. Throws a DecodeError if it says something else. */
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
  // It is read as what it says it is, before it is found to be the wrong thing.
  const { schema } = known
  const { error } = known.isBuiltIn && schema ? decodeBuiltIn(schema, (ref) => known.resolve(ref), body) : {}
  if (error !== undefined) throw new DecodeError(error)
  const slash = apiVersion.indexOf('/')
  throw new DecodeError(
    `converting (${apiVersion.slice(slash + 1)}.${kind}) to (${definition.group.split('.')[0] || 'core'}.${definition.kind}): unknown conversion`,
  )
}

/** Unknown fields and doubled keys: refused, warned of or ignored, as the request wants it. */
export function report(request: ResourceRequest, unknown: readonly string[], warn: (warning: string) => void): void {
  const { fieldValidation = 'Warn' } = request.options
  const { doubled } = request
  if (fieldValidation === 'Ignore' || (unknown.length === 0 && !doubled)) return
  const fields = unknown.map((path) => `unknown field ${goQuote(path)}`)
  if (fieldValidation === 'Strict') {
    throw new DecodeError(`strict decoding error: ${[...(doubled ? [doubled.refusal] : []), ...fields].join(', ')}`)
  }
  for (const warning of [...(doubled?.warnings ?? []), ...fields]) warn(warning)
}

/** The refusal of a whole object that could not be decoded. */
export function undecodable(definition: KindNames, body: unknown, { message }: DecodeError): StatusError {
  if (!isObject(body)) {
    return badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${message}`)
  }
  const { kind, apiVersion } = body
  const version = typeof apiVersion === 'string' && apiVersion ? apiVersion.split('/').at(-1) : definition.version
  return badRequest(
    `${typeof kind === 'string' && kind ? kind : definition.kind} in version "${version}" cannot be handled as a ${definition.kind}: ${message}`,
  )
}

/** The refusal of a patch whose result could not be decoded; of a custom resource, whose fields have no other order. */
export function unpatchable(patched: unknown, { message }: DecodeError, isBuiltIn = true): StatusError {
  return invalid({ group: '', plural: '', kind: '' }, '', [
    {
      reason: 'FieldValueInvalid',
      field: 'patch',
      message: `Invalid value: ${JSON.stringify(JSON.stringify(isBuiltIn ? sorted(patched) : deeplySorted(patched)))}: ${message}`,
    },
  ])
}

/** Go writes the fields of a patched object by name; what is inside them was not touched. */
function sorted(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value
}

function deeplySorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeplySorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, deeplySorted(item)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
