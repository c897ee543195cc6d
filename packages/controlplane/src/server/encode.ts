import type { KubeObject } from '@tenure/kube'
import { apiVersionOf } from '../registry/decode.ts'
import type { ResourceDefinition } from '../registry/types.ts'
import type { StoredObject } from '../storage/types.ts'
import type { Representation } from './negotiation.ts'

export interface ListMetadata {
  readonly revision: number
  readonly continue?: string
  readonly remaining?: number
}

export interface EncodeOptions {
  readonly definition: ResourceDefinition
  readonly representation: Representation
  /** What table rows carry: `Metadata`, `Object` or `None`. Default `Metadata`. */
  readonly includeObject: string | undefined
  /** Milliseconds, for ages. */
  readonly now: number
}

/** A single object in the form that was asked for. */
export function encodeObject(object: KubeObject, stored: StoredObject | undefined, options: EncodeOptions): string {
  const { representation, definition } = options
  // What is no object of the resource, such as a Status or a Scale, is always shown whole.
  const isOwn = object.kind === definition.kind
  switch (isOwn ? representation.form : 'whole') {
    case 'table':
      return table(
        [{ object, json: stored?.json }],
        { revision: Number(object.metadata?.resourceVersion ?? 0) },
        options,
      )
    case 'metadata':
      return partial(object, representation.version)
    default:
      return stored?.json ?? JSON.stringify(object)
  }
}

export function encodeList(items: readonly StoredObject[], list: ListMetadata, options: EncodeOptions): string {
  const { definition, representation } = options
  const metadata = listMetadata(list)
  switch (representation.form) {
    case 'table':
      return table(items, list, options)
    case 'metadata': {
      const { version } = representation
      const parts = items.map(({ object }) => partial(object, version))
      return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${metadata},"items":[${parts.join(',')}]}`
    }
    default: {
      const head = `{"kind":"${definition.listKind}","apiVersion":"${apiVersionOf(definition)}","metadata":${metadata},"items":[`
      return `${head}${itemTexts(items, definition).join(',')}]}`
    }
  }
}

/** Items of built-in kinds come without kind and apiVersion, which are cut off what is kept of each. */
function itemTexts(items: readonly StoredObject[], definition: ResourceDefinition): readonly string[] {
  if (!definition.isBuiltIn) return items.map(({ json }) => json)
  const start = `{"kind":"${definition.kind}","apiVersion":"${apiVersionOf(definition)}",`
  return items.map(({ json, object }) => {
    if (json.startsWith(start)) return `{${json.slice(start.length)}`
    const { kind: _, apiVersion: __, ...rest } = object
    return JSON.stringify(rest)
  })
}

function listMetadata({ revision, continue: next, remaining }: ListMetadata): string {
  return JSON.stringify({
    resourceVersion: String(revision),
    ...(next !== undefined && { continue: next }),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
  })
}

/** An object's metadata alone. */
export function partial(object: KubeObject, version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(object.metadata ?? {})}}`
}

interface Row {
  readonly object: KubeObject
  readonly json?: string | undefined
}

function table(rows: readonly Row[], list: ListMetadata, options: EncodeOptions): string {
  const { version } = options.representation
  const lines = rows.map((row) => tableRow(row, options))
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${listMetadata(list)},"columnDefinitions":${columns(options)},"rows":[${lines.join(',')}]}`
}

/** What a watch shows as a table: one row, the columns the first time only. */
export function tableEvent(row: Row, isFirst: boolean, options: EncodeOptions): string {
  const { version } = options.representation
  const metadata = JSON.stringify({ resourceVersion: row.object.metadata?.resourceVersion ?? '' })
  const definitions = isFirst ? columns(options) : 'null'
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${metadata},"columnDefinitions":${definitions},"rows":[${tableRow(row, options)}]}`
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
