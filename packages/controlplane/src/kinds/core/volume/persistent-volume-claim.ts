import type { LabelSelector } from '@tenure/kube'

import type { Json } from '../../../model/json.ts'
import {
  asJson,
  asList,
  asText,
  at,
  filled,
  filledUnset,
  isUnset,
  withField,
  withinField,
} from '../../../model/json.ts'
import { required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { modesCell, orUnset, phaseCell } from './volume-columns.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { MODES_OF_VOLUMES, validateModes } from './persistent-volume-validation.ts'
import { adviseOnClaim } from './volume-warnings.ts'
import { createdAt, nameOf } from '../../common/columns.ts'
import { dnsSubdomain } from '../../common/names.ts'
import { invalidEach, invalidValue, notSupported } from '../../common/field-errors.ts'
import { isNegative, isZero } from '../../common/quantity.ts'
import { validateClaimChange } from './volume-changes.ts'
import { validateDataSources, withDataSources } from './data-sources.ts'
import { validateSelector } from '../../common/selectors.ts'

export const PERSISTENT_VOLUME_CLAIMS: KindTable = {
  persistentvolumeclaims: {
    cells: (claim, age) => {
      const spec = asJson(claim['spec'])
      const isBound = Boolean(spec['volumeName'])
      return [
        nameOf(claim),
        phaseCell(claim),
        asText(spec['volumeName']),
        isBound ? asText(at(claim, 'status', 'capacity', 'storage')) || '0' : '',
        isBound ? modesCell(at(claim, 'status', 'accessModes')) : '',
        asText(spec['storageClassName']),
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
      advise: adviseOnClaim,
      validate: (claim) => validateClaimSpec(asJson(claim['spec']), 'spec'),
      validateChange: validateClaimChange,
      returnsDeletedObject: true,
    },
  },
}

/** A claim's own defaults: also of the templates of stateful sets. */
export function defaultClaim(claim: Json): Json {
  const result = withinField(claim, 'spec', (spec) => filled(spec, { volumeMode: 'Filesystem' }))
  return withField(result, 'status', filledUnset(asJson(result['status']), { phase: 'Pending' }))
}

function validateClaimSpec(spec: Json, field: string): FieldError[] {
  const modes = asList(spec['accessModes'])
  const wrong: FieldError[] = []
  if (modes.length === 0) wrong.push(required(`${field}.accessModes`, 'at least 1 access mode is required'))
  wrong.push(...validateSelector(spec['selector'] as LabelSelector | undefined, `${field}.selector`))
  wrong.push(...validateModes(modes, `${field}.accessModes`))
  const storage = at(spec, 'resources', 'requests', 'storage')
  const path = `${field}.resources[storage]`
  if (storage === undefined) wrong.push(required(path))
  else if (isZero(storage) || isNegative(storage)) wrong.push(invalidValue(path, storage, 'must be greater than zero'))
  const { storageClassName, volumeMode } = spec
  if (storageClassName) {
    wrong.push(...invalidEach(`${field}.storageClassName`, storageClassName, dnsSubdomain(asText(storageClassName))))
  }
  if (!isUnset(volumeMode) && !MODES_OF_VOLUMES.includes(asText(volumeMode))) {
    wrong.push(notSupported(`${field}.volumeMode`, volumeMode, MODES_OF_VOLUMES))
  }
  const { volumeAttributesClassName: attributes } = spec
  wrong.push(...validateDataSources(spec, field))
  if (attributes) {
    wrong.push(...invalidEach(`${field}.volumeAttributesClassName`, attributes, dnsSubdomain(asText(attributes))))
  }
  return wrong
}
