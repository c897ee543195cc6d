import type { Stored } from '@tenure/kube'
import { Application } from '../api/index.ts'

/** An Application as callers see it: whose field is whose is the API server's business, and caches keep it in part only. */
export function visible(object: Stored<Application>): Stored<Application> {
  const { managedFields: _, ...metadata } = object.metadata
  const { apiVersion: __, kind: ___, metadata: ____, ...rest } = object
  return { apiVersion: Application.apiVersion, kind: Application.kind, metadata, ...rest }
}
