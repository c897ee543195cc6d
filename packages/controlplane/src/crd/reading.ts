import type { KubeObject } from '@tenure/kube'
import type { Reading } from '../registry/types.ts'
import type { Schema } from '../schema/types.ts'
import { process } from '../schema/validation/process.ts'

/** The time for which a CustomResourceDefinition serves the same. */
export interface Era {
  /** The revision that it began with. */
  readonly since: number
}

/** Of every version of a kind, by its name, whether it is served or not. */
export type Schemas = ReadonlyMap<string, Schema | undefined>

/**
 * What was being written when a definition changed may be as the old one had it, and have a later revision: requests
 * wait for webhooks, and a definition counts when it is durable. So many revisions more are looked at.
 */
const MAX_IN_FLIGHT_REVISIONS = 10_000

/** As in the real server, an object gets the defaults of the version that it is stored in, and loses what the one it is read in does not know. */
export function readingOf(version: string, schemas: Schemas, era: Era): Reading {
  const schema = schemas.get(version)
  return {
    era,
    before: era.since + MAX_IN_FLIGHT_REVISIONS,
    fit(object) {
      const stored = schemas.get(object.apiVersion?.replace(/^.*\//, '') ?? '')
      const { metadata, ...before } = object
      const defaulted = stored ? process(stored, noRefs, before, { default: true, prune: false }).object : before
      const fit = schema ? process(schema, noRefs, defaulted, { default: false, prune: true }).object : defaulted
      if (fit === before) return object
      const { kind, apiVersion, ...rest } = fit as KubeObject
      return { kind, apiVersion, metadata, ...rest } as KubeObject
    },
  }
}

export function noRefs(ref: string): Schema {
  throw new Error(`the schema of a custom resource has no definition ${ref}`)
}
