/** `dataSource`, which allows two kinds, and `dataSourceRef`, which allows any. */
import type { JsonObject } from '@tenure/kube/model'
import { asString, dnsSubdomain, isJsonObject } from '@tenure/kube/model'

import { isSemanticallyEqual, withField } from '../../../model/json.ts'
import { invalidEach, invalidStruct, invalidValue, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'

const CLAIM = 'PersistentVolumeClaim'

/** Copies one field to the other. Drops a `dataSource` of another kind and a `dataSourceRef` to another namespace. */
export function withDataSources(spec: JsonObject): JsonObject {
  const given = spec['dataSource']
  const reference = spec['dataSourceRef']
  const old = isJsonObject(given) && isDataSourceKind(given) ? given : undefined
  const any = isJsonObject(reference) && !reference['namespace'] ? reference : undefined
  if (given === undefined && reference === undefined) return spec
  return withField(withField(spec, 'dataSource', old ?? any), 'dataSourceRef', any ?? old)
}

function isDataSourceKind({ apiGroup, kind }: JsonObject): boolean {
  const group = asString(apiGroup)
  return (group === '' && kind === CLAIM) || (group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot')
}

export function validateDataSources(spec: JsonObject, field: string): FieldError[] {
  const { dataSource, dataSourceRef } = spec
  const errors = Object.entries({ dataSource, dataSourceRef }).flatMap(([name, source]) =>
    isJsonObject(source) ? validateDataSource(source, `${field}.${name}`) : [],
  )
  if (!isJsonObject(dataSource) || !isJsonObject(dataSourceRef) || isSemanticallyEqual(dataSource, dataSourceRef))
    return errors
  return [...errors, invalidStruct(field, {}, 'must match dataSourceRef')]
}

function validateDataSource({ name, kind, apiGroup }: JsonObject, field: string): FieldError[] {
  const group = asString(apiGroup)
  return [
    ...(name ? [] : [required(`${field}.name`)]),
    ...(kind ? [] : [required(`${field}.kind`)]),
    ...(group === '' && kind !== CLAIM
      ? [invalidValue(field, kind ?? '', `must be '${CLAIM}' when referencing the default apiGroup`)]
      : []),
    ...(group === '' ? [] : invalidEach(`${field}.apiGroup`, group, dnsSubdomain(group))),
  ]
}
