/** `dataSource`, which allows two kinds, and `dataSourceRef`, which allows any. */
import type { Json } from '../../../model/json.ts'
import { asText, isJson, isSemanticallyEqual, withField } from '../../../model/json.ts'
import { invalidEach, invalidStruct, invalidValue, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { dnsSubdomain } from '../../common/names.ts'

const CLAIM = 'PersistentVolumeClaim'

/** Copies one field to the other. Drops a `dataSource` of another kind and a `dataSourceRef` to another namespace. */
export function withDataSources(spec: Json): Json {
  const given = spec['dataSource']
  const reference = spec['dataSourceRef']
  const old = isJson(given) && isDataSourceKind(given) ? given : undefined
  const any = isJson(reference) && !reference['namespace'] ? reference : undefined
  if (given === undefined && reference === undefined) return spec
  return withField(withField(spec, 'dataSource', old ?? any), 'dataSourceRef', any ?? old)
}

function isDataSourceKind({ apiGroup, kind }: Json): boolean {
  const group = asText(apiGroup)
  return (group === '' && kind === CLAIM) || (group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot')
}

export function validateDataSources(spec: Json, field: string): FieldError[] {
  const { dataSource, dataSourceRef } = spec
  const errors = Object.entries({ dataSource, dataSourceRef }).flatMap(([name, source]) =>
    isJson(source) ? validateDataSource(source, `${field}.${name}`) : [],
  )
  if (!isJson(dataSource) || !isJson(dataSourceRef) || isSemanticallyEqual(dataSource, dataSourceRef)) return errors
  return [...errors, invalidStruct(field, {}, 'must match dataSourceRef')]
}

function validateDataSource({ name, kind, apiGroup }: Json, field: string): FieldError[] {
  const group = asText(apiGroup)
  return [
    ...(name ? [] : [required(`${field}.name`)]),
    ...(kind ? [] : [required(`${field}.kind`)]),
    ...(group === '' && kind !== CLAIM
      ? [invalidValue(field, kind ?? '', `must be '${CLAIM}' when referencing the default apiGroup`)]
      : []),
    ...(group === '' ? [] : invalidEach(`${field}.apiGroup`, group, dnsSubdomain(group))),
  ]
}
