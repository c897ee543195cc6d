import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filled, isAbsent, isSemanticallyEqual, isUnset, withinField } from '../../model/json.ts'
import { duplicate, invalidValue, notSupported } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

export const CSI_DRIVERS: KindTable = {
  'csidrivers.storage.k8s.io': {
    columns: (driver, age) => {
      const spec = asJsonObject(driver['spec'])
      const tokens = asJsonObjects(spec['tokenRequests']).map(({ audience }) => asString(audience))
      return [
        nameOf(driver),
        spec['attachRequired'] !== false,
        spec['podInfoOnMount'] === true,
        spec['storageCapacity'] === true,
        tokens.join(',') || '<unset>',
        spec['requiresRepublish'] === true,
        asArray(spec['volumeLifecycleModes']).map(asString).join(',') || '<none>',
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
      warnings: warningsForDriver,
      validate: validateDriver,
      validateChange: validateDriverChange,
      returnsDeletedObject: true,
    },
  },
}

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']
const LIFECYCLES = ['Persistent', 'Ephemeral']
const MIN_UPDATE_PERIOD_SECONDS = 10
const MIN_TOKEN_SECONDS = 600
const MAX_TOKEN_SECONDS = 2 ** 32

function validateDriver(driver: JsonObject): FieldError[] {
  const spec = asJsonObject(driver['spec'])
  const { fsGroupPolicy, nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec
  const errors: FieldError[] = []
  if (!isAbsent(fsGroupPolicy) && !GROUP_POLICIES.includes(asString(fsGroupPolicy))) {
    errors.push(notSupported('spec.fsGroupPolicy', fsGroupPolicy, GROUP_POLICIES))
  }
  const requests = asJsonObjects(spec['tokenRequests'])
  append(errors, validateTokens(requests, 'spec.tokenRequests'))
  for (const mode of asArray(spec['volumeLifecycleModes'])) {
    if (!LIFECYCLES.includes(asString(mode))) errors.push(notSupported('spec.volumeLifecycleModes', mode, LIFECYCLES))
  }
  if (typeof period === 'number' && period < MIN_UPDATE_PERIOD_SECONDS) {
    const detail = `must be greater than or equal to ${MIN_UPDATE_PERIOD_SECONDS} seconds`
    errors.push(invalidValue('spec.nodeAllocatableUpdatePeriodSeconds', period, detail))
  }
  if (!isAbsent(inSecrets) && requests.length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    errors.push(invalidValue('spec.serviceAccountTokenInSecrets', inSecrets, detail))
  }
  return errors
}

const TOKEN_IN_SECRETS_WARNING =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

/** Warns when the token requests change. */
function warningsForDriver(driver: JsonObject, old: JsonObject | undefined): readonly string[] {
  const { tokenRequests, serviceAccountTokenInSecrets: inSecrets } = asJsonObject(driver['spec'])
  const isSame = isSemanticallyEqual(tokenRequests, asJsonObject(old?.['spec'])['tokenRequests'])
  return isSame || asArray(tokenRequests).length === 0 || !isAbsent(inSecrets) ? [] : [TOKEN_IN_SECRETS_WARNING]
}

function validateTokens(requests: readonly JsonObject[], field: string): FieldError[] {
  const audiences = new Set<string>()
  return requests.flatMap(({ audience, expirationSeconds: seconds }, index) => {
    const [place, name] = [`${field}[${index}]`, asString(audience)]
    if (audiences.has(name)) return [duplicate(`${place}.audience`, name)]
    audiences.add(name)
    if (isUnset(seconds) && seconds !== 0) return []
    const invalid = (what: string): FieldError =>
      invalidValue(`${place}.expirationSeconds`, seconds, `may not specify a duration ${what}`)
    if (Number(seconds) < MIN_TOKEN_SECONDS) return [invalid('less than 10 minutes')]
    return Number(seconds) > MAX_TOKEN_SECONDS ? [invalid('larger than 2^32 seconds')] : []
  })
}

function validateDriverChange(driver: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [asJsonObject(driver['spec']), asJsonObject(old['spec'])]
  return [
    // kube-apiserver reports this field name.
    ...unchanged('spec.attachedRequired', spec['attachRequired'], before['attachRequired']),
    ...unchanged('spec.volumeLifecycleModes', spec['volumeLifecycleModes'], before['volumeLifecycleModes']),
  ]
}
