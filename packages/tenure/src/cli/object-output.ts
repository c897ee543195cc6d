import { valueText } from '@tenure/runtime/cli'

/** Formats of commands that print objects for `kubectl apply -f -`. */
export const OBJECT_FORMATS = ['yaml', 'json', 'name'] as const

export type ObjectFormat = (typeof OBJECT_FORMATS)[number]

export interface PrintedObject {
  /** Comment lines before the object, in YAML. Default: none. */
  readonly comment?: readonly string[]
  readonly object: object
}

/** The text of objects: documents of YAML, a List in JSON, or their names as kubectl prints them. */
export function printObjects(objects: readonly PrintedObject[], format: ObjectFormat): string {
  const items = objects.map(({ object }) => object)
  if (format === 'json') return `${valueText(format, { apiVersion: 'v1', kind: 'List', metadata: {}, items })}\n`
  if (format === 'name') return items.map((object) => `${nameOf(object)}\n`).join('')
  return objects.map(documentOf).join('---\n')
}

function documentOf({ comment = [], object }: PrintedObject): string {
  const lines = comment.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
  return `${lines}${valueText('yaml', object)}\n`
}

/** `deployment.apps/shop`. */
function nameOf(object: object): string {
  const {
    apiVersion = '',
    kind = '',
    metadata,
  } = object as {
    readonly apiVersion?: string
    readonly kind?: string
    readonly metadata?: { readonly name?: string }
  }
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : ''
  return `${kind.toLowerCase()}${group}/${metadata?.name ?? ''}`
}
