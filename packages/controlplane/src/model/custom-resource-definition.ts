import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from './json.ts'

export const specOf = (crd: JsonObject): JsonObject => asJsonObject(crd['spec'])

export const namesOf = (crd: JsonObject): JsonObject => asJsonObject(valueAtPath(crd, 'spec', 'names'))

export const versionsOf = (crd: JsonObject): readonly JsonObject[] =>
  asJsonObjects(valueAtPath(crd, 'spec', 'versions'))

export const storageVersionOf = (crd: JsonObject): string | undefined => {
  const version = versionsOf(crd).find(({ storage }) => storage === true)
  return version && asString(version['name'])
}

export const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'
export const BUCKET = 'customresourcedefinitions.apiextensions.k8s.io'
