import type { KubeObject } from '@tenure/kube'
import type { Schema } from '../schema/types.ts'

/** The three plain patches; each returns a new object and throws a StatusError for a patch that can not be applied. */
export interface Patches {
  json(object: KubeObject, operations: unknown): KubeObject
  merge(object: KubeObject, patch: unknown): KubeObject
  strategic(object: KubeObject, patch: unknown, schema: Schema, resolve: (ref: string) => Schema): KubeObject
}
