import type { KubeObject } from '@tenure/kube'
import type { Schema } from '../schema/types.ts'

/** JSON, merge and strategic merge patches; each returns a new object, or throws a StatusError if it does not apply. */
export interface Patches {
  json(object: KubeObject, operations: unknown): KubeObject
  merge(object: KubeObject, patch: unknown): KubeObject
  strategic(object: KubeObject, patch: unknown, schema: Schema, resolve: (ref: string) => Schema): KubeObject
}
