import { invalidRequest } from '@tenure/http'
import type { KubeObject, Stored } from '@tenure/kube'
import { FieldMatcher, keyOf, LabelMatcher, TenureError } from '@tenure/kube'
import type { ListQuery } from './schemas.ts'

export interface Page<T extends KubeObject> {
  readonly items: readonly Stored<T>[]
  /** Token of the next page; undefined on the last. */
  readonly next: string | undefined
  readonly remaining: number
}

/** Fields that the API server can select custom resources by. */
const FIELDS = new Set(['metadata.name', 'metadata.namespace'])

/** One page of the selected objects, ordered by namespace and name. Throws a 400 for an invalid query. */
export function pageOf<T extends KubeObject>(objects: readonly Stored<T>[], query: ListQuery): Page<T> {
  const labels = reading('labelSelector', () => LabelMatcher.parse(query.labelSelector ?? ''))
  const fields = reading('fieldSelector', () => fieldsOf(query.fieldSelector ?? ''))
  const after = query.continue ? positionIn(query.continue) : undefined
  const limit = Number(query.limit ?? 0)
  const selected = objects
    .filter((object) => labels.matches(object.metadata.labels) && fields.matches(object))
    .map((object) => ({ object, key: keyOf(object.metadata) }))
    .filter(({ key }) => after === undefined || key > after)
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const page = limit > 0 ? selected.slice(0, limit) : selected
  const remaining = selected.length - page.length
  const last = page.at(-1)
  return {
    items: page.map(({ object }) => object),
    next: remaining > 0 && last ? tokenFor(last.key) : undefined,
    remaining,
  }
}

/** Parses a label selector; throws a 400 for an invalid one. */
export function labelsOf(selector: string): LabelMatcher {
  return reading('labelSelector', () => LabelMatcher.parse(selector))
}

function fieldsOf(selector: string): FieldMatcher {
  const matcher = FieldMatcher.parse(selector)
  for (const term of matcher.toString().split(',')) {
    const field = term.split(/!?=/, 1)[0] ?? ''
    if (field !== '' && !FIELDS.has(field)) {
      throw new TenureError(
        'TENURE_SELECTOR_INVALID',
        `"${field}" is not a selectable field. Use ${[...FIELDS].join(' or ')}.`,
      )
    }
  }
  return matcher
}

function reading<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TenureError)) throw error
    throw invalidRequest([{ field, message: error.message }], error)
  }
}

/** Opaque to callers: the key of the last object of the page. */
function tokenFor(key: string): string {
  return Buffer.from(JSON.stringify({ v: 1, after: key })).toString('base64url')
}

function positionIn(token: string): string {
  try {
    const position: unknown = JSON.parse(Buffer.from(token, 'base64url').toString())
    if (isPosition(position)) return position.after
  } catch {
    // Reported below.
  }
  throw invalidRequest([{ field: 'continue', message: 'Expected the metadata.continue token of a list' }])
}

function isPosition(value: unknown): value is { readonly after: string } {
  if (typeof value !== 'object' || value === null) return false
  return 'v' in value && value.v === 1 && 'after' in value && typeof value.after === 'string'
}
