import { versionsOf } from '../../model/custom-resource-definition.ts'
import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asText, isJson } from '../../model/json.ts'
import { isKnownFormat } from '../../schema/formats/formats.ts'
import { goQuote } from '../../schema/go-text.ts'

/** Warns of new formats that are not recognized, because their values are not validated. */
export function warningsForFormats(crd: Json, old: Json | undefined): readonly string[] {
  const found = formatsOf(crd).difference(old ? formatsOf(old) : new Set<string>())
  return [...found].toSorted().map((format) => `unrecognized format ${goQuote(format)}`)
}

const formatsOf = (crd: Json): Set<string> =>
  new Set(versionsOf(crd).flatMap((version) => unknownFormats(asJson(version['schema'])['openAPIV3Schema'])))

function unknownFormats(given: unknown): readonly string[] {
  if (!isJson(given)) return []
  const format = asText(given['format'])
  const own = format === '' || isKnownFormat(asText(given['type']), format) ? [] : [format]
  const { items, additionalProperties, properties, not } = given
  const inner = [
    ...Object.values(asJson(properties)),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((list) => asJsons(given[list])),
    items,
    additionalProperties,
    not,
  ]
  return [...own, ...inner.flatMap(unknownFormats)]
}
