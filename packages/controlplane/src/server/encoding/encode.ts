import type { KubeObject } from '@tenure/kube'
import { badRequest, StatusError } from '../../errors.ts'
import { apiVersionOf } from '../../registry/decode/decode.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { StoredObject } from '../../storage/types.ts'
import { ListBody } from './list-body.ts'
import type { Representation } from './negotiation.ts'

export interface ListMetadata {
  readonly revision: number
  readonly continue?: string
  readonly remaining?: number
}

export interface EncodeOptions {
  readonly definition: ResourceDefinition
  readonly representation: Representation
  /** The contents of table rows: `Metadata`, `Object` or `None`. Default `Metadata`. */
  readonly includeObject: string | undefined
  /** Wall time in milliseconds, for ages. */
  readonly now: number
}

/** A single object in the requested representation. */
export function encodeObject(object: KubeObject, stored: StoredObject | undefined, options: EncodeOptions): string {
  const { representation, definition } = options
  // An object of another kind, such as a Status or a Scale, is always sent whole.
  const isOwn = object.kind === definition.kind
  switch (isOwn ? representation.content : 'whole') {
    case 'table':
      return table(
        [{ object, json: stored?.json }],
        { revision: Number(object.metadata?.resourceVersion ?? 0) },
        options,
      )
    case 'metadata':
      if (representation.isList) throw wrongRepresentation('PartialObjectMetadataList', 'not a list', definition, '')
      return partial(object, representation.version)
    default:
      return stored?.json ?? JSON.stringify(object)
  }
}

/** Longer lists are not joined into one string. */
const MAX_TEXT_LENGTH = 64 * 1024

export function encodeList(
  items: readonly StoredObject[],
  list: ListMetadata,
  options: EncodeOptions,
): string | ListBody {
  const { definition, representation } = options
  switch (representation.content) {
    case 'table':
      return table(items, list, options)
    case 'metadata': {
      const { version } = representation
      if (!representation.isList) throw wrongRepresentation('PartialObjectMetadata', 'a list', definition, 'List')
      const metadata = listMetadata(list)
      const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${metadata},"items":[`
      return listOf(head, items, ({ object }) => partial(object, version).slice(1))
    }
    default: {
      // A list of custom resources has an empty continue token, where others have none.
      const metadata = listMetadata(definition.isBuiltIn ? list : { ...list, continue: list.continue ?? '' })
      const head = `{"kind":"${definition.listKind}","apiVersion":"${apiVersionOf(definition)}","metadata":${metadata},"items":[`
      return listOf(head, items, itemBody(definition))
    }
  }
}

function listOf(
  head: string,
  items: readonly StoredObject[],
  bodyOf: (item: StoredObject) => string,
): string | ListBody {
  let length = 0
  for (const { json } of items) length += json.length
  const isLong = length > MAX_TEXT_LENGTH
  const list = new ListBody(head, items, bodyOf, isLong ? ']}\n' : ']}')
  return isLong ? list : list.text()
}

/** A single object was requested as a list, or a list as a single object. */
function wrongRepresentation(asked: string, what: string, definition: ResourceDefinition, suffix: string): StatusError {
  const { group, kind, isBuiltIn } = definition
  const type = isBuiltIn ? `${group.split('.')[0] || 'core'}.${kind}` : 'unstructured.Unstructured'
  return new StatusError(
    406,
    'NotAcceptable',
    `you requested ${asked}, but the requested object is ${what} (*${type}${suffix})`,
  )
}

/** The JSON of an item without its first brace. Items of built-in kinds are sent without kind and apiVersion. */
function itemBody(definition: ResourceDefinition): (item: StoredObject) => string {
  if (!definition.isBuiltIn) return ({ json }) => json.slice(1)
  const start = `{"kind":"${definition.kind}","apiVersion":"${apiVersionOf(definition)}",`
  return (item) => {
    const { json } = item
    if (json.startsWith(start)) return json.slice(start.length)
    const { kind: _, apiVersion: __, ...rest } = item.object
    return JSON.stringify(rest).slice(1)
  }
}

function listMetadata({ revision, continue: next, remaining }: ListMetadata): string {
  return JSON.stringify({
    resourceVersion: String(revision),
    ...(next !== undefined && { continue: next }),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
  })
}

/** The metadata of an object as PartialObjectMetadata. */
export function partial(object: KubeObject, version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(object.metadata ?? {})}}`
}

interface Row {
  readonly object: KubeObject
  readonly json?: string | undefined
}

function table(rows: readonly Row[], list: ListMetadata, options: EncodeOptions): string {
  const { version } = options.representation
  checkIncludeObject(options)
  // kube-apiserver prints kinds without own columns by other code, which omits an empty list.
  const isPlain = options.definition.printer.columns[1]?.name === 'Created At'
  const lines = rows.length === 0 && isPlain ? 'null' : `[${rows.map((row) => tableRow(row, options)).join(',')}]`
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${listMetadata(list)},"columnDefinitions":${columns(options)},"rows":${lines}}`
}

/** A watch event as a table: one row, with columns only in the first event. */
export function tableEvent(row: Row, isFirst: boolean, options: EncodeOptions): string {
  const { version } = options.representation
  const metadata = JSON.stringify({ resourceVersion: row.object.metadata?.resourceVersion ?? '' })
  const definitions = isFirst ? columns(options) : 'null'
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${metadata},"columnDefinitions":${definitions},"rows":[${tableRow(row, options)}]}`
}

function checkIncludeObject({ includeObject }: EncodeOptions): void {
  if (!includeObject || ['Metadata', 'Object', 'None'].includes(includeObject)) return
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(includeObject)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

function columns({ definition }: EncodeOptions): string {
  return JSON.stringify(
    definition.printer.columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  )
}

function tableRow({ object, json }: Row, options: EncodeOptions): string {
  const { definition, includeObject, now, representation } = options
  const cells = JSON.stringify(definition.printer.cells(object, now))
  const shown =
    includeObject === 'None'
      ? 'null'
      : includeObject === 'Object'
        ? (json ?? JSON.stringify(object))
        : partial(object, representation.version)
  return `{"cells":${cells},"object":${shown}}`
}
