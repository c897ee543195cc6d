import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject } from '@tenure/kube/model'

import { versionsOf } from '../../model/custom-resource-definition.ts'
import { asJsonObjects } from '../../model/json.ts'
import { isKnownFormat } from '../../schema/formats/formats.ts'
import { goQuote } from '../../schema/go-text.ts'

/** Warns of new formats that are not recognized, because their values are not validated. */
export function warningsForFormats(crd: JsonObject, old: JsonObject | undefined): readonly string[] {
  const found = formatsOf(crd).difference(old ? formatsOf(old) : new Set<string>())
  return [...found].toSorted().map((format) => `unrecognized format ${goQuote(format)}`)
}

const formatsOf = (crd: JsonObject): Set<string> =>
  new Set(versionsOf(crd).flatMap((version) => unknownFormats(asJsonObject(version['schema'])['openAPIV3Schema'])))

function unknownFormats(given: unknown): readonly string[] {
  if (!isJsonObject(given)) return []
  const format = asString(given['format'])
  const own = format === '' || isKnownFormat(asString(given['type']), format) ? [] : [format]
  const { items, additionalProperties, properties, not } = given
  const inner = [
    ...Object.values(asJsonObject(properties)),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((list) => asJsonObjects(given[list])),
    items,
    additionalProperties,
    not,
  ]
  return [...own, ...inner.flatMap(unknownFormats)]
}
