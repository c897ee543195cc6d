import type { Stored } from '@tenure/kube'
import { Application } from '../api/index.ts'

/** An Application for callers. managedFields are left out, because the cache keeps only some of them. */
export function toResponse(object: Stored<Application>): Stored<Application> {
  const { managedFields: _, ...metadata } = object.metadata
  const { apiVersion: __, kind: ___, metadata: ____, ...rest } = object
  return { apiVersion: Application.apiVersion, kind: Application.kind, metadata, ...rest }
}
