import type { KubeObject } from '@tenure/kube'
import type { StoredObjectReader } from '../registry/types.ts'
import type { Schema } from '../schema/types.ts'
import { noReferences } from '../schema/validation/no-references.ts'
import { process } from '../schema/validation/process.ts'

/** The period during which a CustomResourceDefinition serves the same schema. Its identity marks the period. */
export interface SchemaEpoch {
  /** The first revision of the period. */
  readonly since: number
}

/** Schemas of all versions of a kind, by version name, served or not. */
export type Schemas = ReadonlyMap<string, Schema | undefined>

/**
 * An object written while the definition changed may still follow the old schema at a later revision, because requests
 * wait for webhooks and for storage. Objects of this many later revisions are converted as well.
 */
const MAX_IN_FLIGHT_REVISIONS = 10_000

/** As in kube-apiserver, a stored object gets the defaults of its stored version and is pruned by the served version. */
export function storedObjectReader(version: string, schemas: Schemas, epoch: SchemaEpoch): StoredObjectReader {
  const schema = schemas.get(version)
  return {
    epoch,
    beforeRevision: epoch.since + MAX_IN_FLIGHT_REVISIONS,
    read(object) {
      const stored = schemas.get(object.apiVersion?.replace(/^.*\//, '') ?? '')
      const { metadata, ...before } = object
      const defaulted = stored ? process(stored, noReferences, before, { default: true, prune: false }).object : before
      const pruned = schema
        ? process(schema, noReferences, defaulted, { default: false, prune: true }).object
        : defaulted
      if (pruned === before) return object
      const { kind, apiVersion, ...rest } = pruned as KubeObject
      return { kind, apiVersion, metadata, ...rest } as KubeObject
    },
  }
}
