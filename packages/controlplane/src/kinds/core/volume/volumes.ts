import type { LabelSelector } from '@tenure/kube'

import type { FieldError } from '../../../schema/types.ts'
import { createdAt, isBeingDeleted, nameOf } from '../../common/columns.ts'
import { invalidEach, invalidValue, notSupported, required } from '../../common/field-errors.ts'
import type { Json } from '../../../model/json.ts'
import {
  asJson,
  asJsons,
  asList,
  asText,
  at,
  filled,
  filledUnset,
  isJson,
  isUnset,
  withField,
  withinField,
} from '../../../model/json.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { unchanged } from '../../common/labels.ts'
import { dnsSubdomain } from '../../common/names.ts'
import { isNegative, isZero } from '../../common/quantity.ts'
import { validateSelector } from '../../common/selectors.ts'
import { adviseOnDriver, validateDriver, validateDriverChange } from '../../storage/csi-driver.ts'
import { validateDataSources, withDataSources } from './data-sources.ts'
import { adviseOnStorageClass, validateStorageClass } from '../../storage/storage-class-validation.ts'
import { adviseOnClaim, adviseOnVolume } from './volume-warnings.ts'
import { validateClaimChange, validateVolumeChange } from './volume-changes.ts'
import { MODES_OF_VOLUMES, validateModes, validateVolumeSpec } from './persistent-volume-validation.ts'

const SHORT_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]
const modesCell = (modes: unknown): string =>
  SHORT_MODES.filter(([mode]) => asList(modes).includes(mode))
    .map(([, short]) => short)
    .join(',')

const phaseCell = (object: Json): string =>
  isBeingDeleted(object) ? 'Terminating' : asText(at(object, 'status', 'phase'))
const orUnset = (value: unknown): string => asText(value) || '<unset>'

/** A claim's own defaults: also of the templates of stateful sets. */
export function defaultClaim(claim: Json): Json {
  const result = withinField(claim, 'spec', (spec) => filled(spec, { volumeMode: 'Filesystem' }))
  return withField(result, 'status', filledUnset(asJson(result['status']), { phase: 'Pending' }))
}

/** Storage. */
export const VOLUMES: KindTable = {
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
  persistentvolumes: {
    cells: (volume, age) => {
      const spec = asJson(volume['spec'])
      const claim = spec['claimRef']
      return [
        nameOf(volume),
        asText(at(spec, 'capacity', 'storage')) || '0',
        modesCell(spec['accessModes']),
        asText(spec['persistentVolumeReclaimPolicy']),
        phaseCell(volume),
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
      advise: adviseOnVolume,
      validate: (volume) => validateVolumeSpec(asJson(volume['spec'])),
      validateChange: (volume, old) => validateVolumeChange(asJson(volume['spec']), asJson(old['spec'])),
      returnsDeletedObject: true,
    },
  },
  'storageclasses.storage.k8s.io': {
    cells: (storage, age) => {
      const annotations = asJson(at(storage, 'metadata', 'annotations'))
      const isDefault = [
        'storageclass.kubernetes.io/is-default-class',
        'storageclass.beta.kubernetes.io/is-default-class',
      ].some((key) => annotations[key] === 'true')
      return [
        isDefault ? `${nameOf(storage)} (default)` : nameOf(storage),
        asText(storage['provisioner']),
        asText(storage['reclaimPolicy']) || 'Delete',
        asText(storage['volumeBindingMode']) || 'Immediate',
        storage['allowVolumeExpansion'] === true,
        age(createdAt(storage)),
      ]
    },
    rules: {
      generation: false,
      defaults: (storage) => filled(storage, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
      advise: adviseOnStorageClass,
      validate: validateStorageClass,
      validateChange: (storage, old) =>
        ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
          unchanged(field, storage[field], old[field]),
        ),
      returnsDeletedObject: true,
    },
  },
  'csidrivers.storage.k8s.io': {
    cells: (driver, age) => {
      const spec = asJson(driver['spec'])
      const tokens = asJsons(spec['tokenRequests']).map(({ audience }) => asText(audience))
      return [
        nameOf(driver),
        spec['attachRequired'] !== false,
        spec['podInfoOnMount'] === true,
        spec['storageCapacity'] === true,
        tokens.join(',') || '<unset>',
        spec['requiresRepublish'] === true,
        asList(spec['volumeLifecycleModes']).map(asText).join(',') || '<none>',
        age(createdAt(driver)),
      ]
    },
    rules: {
      generation: false,
      defaults: (driver) =>
        withinField(driver, 'spec', (spec) =>
          filled(spec, {
            attachRequired: true,
            podInfoOnMount: false,
            volumeLifecycleModes: ['Persistent'],
            storageCapacity: false,
            fsGroupPolicy: 'ReadWriteOnceWithFSType',
            requiresRepublish: false,
            seLinuxMount: false,
          }),
        ),
      advise: adviseOnDriver,
      validate: validateDriver,
      validateChange: validateDriverChange,
      returnsDeletedObject: true,
    },
  },
  'volumeattachments.storage.k8s.io': { rules: { generation: false, returnsDeletedObject: true } },
  'csinodes.storage.k8s.io': { rules: { generation: false, returnsDeletedObject: true } },
  'csistoragecapacities.storage.k8s.io': { rules: { generation: false } },
  'volumeattributesclasses.storage.k8s.io': { rules: { returnsDeletedObject: true } },
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
