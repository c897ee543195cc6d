import type { Json } from './json.ts'
import { asJson, asJsons, asText, at } from './json.ts'

export const specOf = (crd: Json): Json => asJson(crd['spec'])

export const namesOf = (crd: Json): Json => asJson(at(crd, 'spec', 'names'))

export const versionsOf = (crd: Json): readonly Json[] => asJsons(at(crd, 'spec', 'versions'))

export const storageVersionOf = (crd: Json): string | undefined => {
  const version = versionsOf(crd).find(({ storage }) => storage === true)
  return version && asText(version['name'])
}

export const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'
export const BUCKET = 'customresourcedefinitions.apiextensions.k8s.io'
