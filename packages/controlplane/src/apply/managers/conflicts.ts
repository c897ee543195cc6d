import { StatusError } from '../../errors.ts'
import type { FieldSet } from '../fields/fields.ts'
import { fieldsAt, isEmpty, printedPaths } from '../fields/fields.ts'
import { compareText } from '../fields/path-element.ts'
import type { Owner } from './managers.ts'

/** Fields of another owner that an apply would change. */
export interface Conflict {
  readonly identity: string
  readonly owner: Owner
  readonly fields: FieldSet
}

export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const byOwner = conflicts
    .filter(({ fields }) => !isEmpty(fields))
    .toSorted((a, b) => compareText(a.identity, b.identity))
    .map(({ owner, fields }) => ({ name: printOwner(owner), paths: [...printedPaths(fields)] }))
  const causes = byOwner.flatMap(({ name, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })),
  )
  const [only] = byOwner
  const message =
    only && causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${only.name}: ${only.paths[0]}`
      : `Apply failed with ${causes.length} conflicts: ${byOwner
          .flatMap(({ name, paths }) => [`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`)])
          .join('\n')}`
  return new StatusError(409, 'Conflict', message, { causes })
}

function printOwner({ manager, subresource, operation, apiVersion }: Owner): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '')
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

/** Fields without an owner: those that the server sets and those that identify the object. */
export const NEVER_OWNED: FieldSet = fieldsAt(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
)
