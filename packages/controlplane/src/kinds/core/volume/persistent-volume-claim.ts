import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, dnsSubdomain, valueAtPath } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { filled, filledUnset, isUnset, withField, withinField } from '../../../model/json.ts'
import { invalidEach, invalidValue, notSupported, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { createdAt, nameOf } from '../../common/columns.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { isNegative, isZero } from '../../common/quantity.ts'
import { validateSelector } from '../../common/selectors.ts'
import { validateDataSources, withDataSources } from './data-sources.ts'
import { VOLUME_MODES, validateModes } from './persistent-volume-validation.ts'
import { validateClaimChange } from './volume-changes.ts'
import { modesColumn, orUnset, phaseColumn } from './volume-columns.ts'
import { warningsForClaim } from './volume-warnings.ts'

export const PERSISTENT_VOLUME_CLAIMS: KindTable = {
  persistentvolumeclaims: {
    columns: (claim, age) => {
      const spec = asJsonObject(claim['spec'])
      const isBound = Boolean(spec['volumeName'])
      return [
        nameOf(claim),
        phaseColumn(claim),
        asString(spec['volumeName']),
        isBound ? asString(valueAtPath(claim, 'status', 'capacity', 'storage')) || '0' : '',
        isBound ? modesColumn(valueAtPath(claim, 'status', 'accessModes')) : '',
        asString(spec['storageClassName']),
        orUnset(spec['volumeAttributesClassName']),
        age(createdAt(claim)),
        orUnset(spec['volumeMode']),
      ]
    },
    rules: {
      generation: false,
      newStatus: { phase: 'Pending' },
      defaults: (claim) => withinField(claim, 'spec', (spec) => filled(spec, { volumeMode: 'Filesystem' })),
      prepareForCreate: (claim) => withinField(claim, 'spec', withDataSources),
      warnings: warningsForClaim,
      validate: (claim) => validateClaimSpec(asJsonObject(claim['spec']), 'spec'),
      validateChange: validateClaimChange,
      returnsDeletedObject: true,
    },
  },
}

/** Defaults of a claim template of a StatefulSet. */
export function defaultClaim(claim: JsonObject): JsonObject {
  const result = withinField(claim, 'spec', (spec) => filled(spec, { volumeMode: 'Filesystem' }))
  return withField(result, 'status', filledUnset(asJsonObject(result['status']), { phase: 'Pending' }))
}

function validateClaimSpec(spec: JsonObject, field: string): FieldError[] {
  const modes = asArray(spec['accessModes'])
  const errors: FieldError[] = []
  if (modes.length === 0) errors.push(required(`${field}.accessModes`, 'at least 1 access mode is required'))
  append(errors, validateSelector(spec['selector'] as LabelSelector | undefined, `${field}.selector`))
  append(errors, validateModes(modes, `${field}.accessModes`))
  const storage = valueAtPath(spec, 'resources', 'requests', 'storage')
  const path = `${field}.resources[storage]`
  if (storage === undefined) errors.push(required(path))
  else if (isZero(storage) || isNegative(storage)) errors.push(invalidValue(path, storage, 'must be greater than zero'))
  const { storageClassName, volumeMode } = spec
  if (storageClassName) {
    errors.push(...invalidEach(`${field}.storageClassName`, storageClassName, dnsSubdomain(asString(storageClassName))))
  }
  if (!isUnset(volumeMode) && !VOLUME_MODES.includes(asString(volumeMode))) {
    errors.push(notSupported(`${field}.volumeMode`, volumeMode, VOLUME_MODES))
  }
  const { volumeAttributesClassName: attributes } = spec
  append(errors, validateDataSources(spec, field))
  if (attributes) {
    errors.push(...invalidEach(`${field}.volumeAttributesClassName`, attributes, dnsSubdomain(asString(attributes))))
  }
  return errors
}
