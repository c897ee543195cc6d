import { asJson, asText, at, filled, filledUnset, isJson, withField, withinField } from '../../../model/json.ts'
import { createdAt, nameOf } from '../../common/columns.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { validateVolumeSpec } from './persistent-volume-validation.ts'
import { validateVolumeChange } from './volume-changes.ts'
import { modesColumn, orUnset, phaseColumn } from './volume-columns.ts'
import { warningsForVolume } from './volume-warnings.ts'

export const PERSISTENT_VOLUMES: KindTable = {
  persistentvolumes: {
    columns: (volume, age) => {
      const spec = asJson(volume['spec'])
      const claim = spec['claimRef']
      return [
        nameOf(volume),
        asText(at(spec, 'capacity', 'storage')) || '0',
        modesColumn(spec['accessModes']),
        asText(spec['persistentVolumeReclaimPolicy']),
        phaseColumn(volume),
        isJson(claim) ? `${asText(claim['namespace'])}/${asText(claim['name'])}` : '',
        asText(spec['storageClassName']),
        orUnset(spec['volumeAttributesClassName']),
        asText(at(volume, 'status', 'reason')),
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
      validate: (volume) => validateVolumeSpec(asJson(volume['spec'])),
      validateChange: (volume, old) => validateVolumeChange(asJson(volume['spec']), asJson(old['spec'])),
      returnsDeletedObject: true,
    },
  },
}
