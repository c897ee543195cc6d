import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { filled, filledUnset, withField, withinField } from '../../../model/json.ts'
import { createdAt, nameOf } from '../../common/columns.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { validateVolumeSpec } from './persistent-volume-validation.ts'
import { validateVolumeChange } from './volume-changes.ts'
import { modesColumn, orUnset, phaseColumn } from './volume-columns.ts'
import { warningsForVolume } from './volume-warnings.ts'

export const PERSISTENT_VOLUMES: KindTable = {
  persistentvolumes: {
    columns: (volume, age) => {
      const spec = asJsonObject(volume['spec'])
      const claim = spec['claimRef']
      return [
        nameOf(volume),
        asString(valueAtPath(spec, 'capacity', 'storage')) || '0',
        modesColumn(spec['accessModes']),
        asString(spec['persistentVolumeReclaimPolicy']),
        phaseColumn(volume),
        isJsonObject(claim) ? `${asString(claim['namespace'])}/${asString(claim['name'])}` : '',
        asString(spec['storageClassName']),
        orUnset(spec['volumeAttributesClassName']),
        asString(valueAtPath(volume, 'status', 'reason')),
        age(createdAt(volume)),
        orUnset(spec['volumeMode']),
      ]
    },
    rules: {
      generation: false,
      defaults: (volume) =>
        withinField(volume, 'spec', (spec) => {
          const filledSpec = filledUnset(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' })
          return withinField(filledSpec, 'hostPath', (path) => filled(path, { type: '' }))
        }),
      prepareForCreate: (volume) =>
        withField(volume, 'status', { phase: 'Pending', lastPhaseTransitionTime: createdAt(volume) }),
      warnings: warningsForVolume,
      validate: (volume) => validateVolumeSpec(asJsonObject(volume['spec'])),
      validateChange: (volume, old) => validateVolumeChange(asJsonObject(volume['spec']), asJsonObject(old['spec'])),
      returnsDeletedObject: true,
    },
  },
}
