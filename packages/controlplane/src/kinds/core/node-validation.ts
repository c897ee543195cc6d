import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, isJsonObject, labelValue, qualifiedName } from '@tenure/kube/model'

import { asJsonObjects, filled, withField, withinField } from '../../model/json.ts'
import {
  duplicateStruct,
  forbidden,
  invalidEach,
  invalidValue,
  notSupported,
  required,
} from '../../schema/field-errors.ts'
import { parseNetwork } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'
import { validateNetwork } from '../common/ip-validation.ts'
import { networkWarnings } from '../common/ip-warnings.ts'
import { isNegative } from '../common/quantity.ts'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function defaultNode(node: JsonObject): JsonObject {
  return withinField(withinField(node, 'spec', defaultNetworks), 'status', (status) =>
    filled(status, { ...(isJsonObject(status['capacity']) && { allocatable: status['capacity'] }) }),
  )
}

/** `podCIDR` equals the first of `podCIDRs`. */
function defaultNetworks(spec: JsonObject): JsonObject {
  const one = asString(spec['podCIDR'])
  const all = asArray(spec['podCIDRs'])
  if (one === '') return all.length > 0 ? withField(spec, 'podCIDR', all[0]) : spec
  return all[0] === one ? spec : withField(spec, 'podCIDRs', [one])
}

export function validateNode(node: JsonObject): FieldError[] {
  const spec = asJsonObject(node['spec'])
  return [
    ...validateTaints(asJsonObjects(spec['taints'])),
    ...validateAmounts(asJsonObject(node['status'])),
    ...validateNetworks(asArray(spec['podCIDRs']).map(asString)),
  ]
}

/** Drops `spec.configSource`, which Kubernetes removed. */
export const withoutConfigSource = (node: JsonObject): JsonObject =>
  withinField(node, 'spec', (spec) => withField(spec, 'configSource', undefined))

export function warningsForNode(node: JsonObject): readonly string[] {
  const { externalID, podCIDRs } = asJsonObject(node['spec'])
  return [
    ...(externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...asArray(podCIDRs).flatMap((network, index) => networkWarnings(asString(network), `spec.podCIDRs[${index}]`)),
  ]
}

const IMMUTABLE_DETAIL = 'except from "" to valid'

/** Pod CIDRs and provider ID are immutable once set. */
export function validateNodeChange(node: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [asJsonObject(node['spec']), asJsonObject(old['spec'])]
  const [networks, held] = [asArray(spec['podCIDRs']), asArray(before['podCIDRs'])]
  // One error per changed CIDR, or one error if their number differs.
  const isAsMany = networks.length === held.length
  const moved = isAsMany ? held.filter((network, index) => network !== networks[index]) : held.slice(0, 1)
  const isOther = Boolean(before['providerID']) && before['providerID'] !== spec['providerID']
  return [
    ...moved.map(() => forbidden('spec.podCIDRs', `node updates may not change podCIDR ${IMMUTABLE_DETAIL}`)),
    ...(isOther ? [forbidden('spec.providerID', `node updates may not change providerID ${IMMUTABLE_DETAIL}`)] : []),
    // kube-apiserver validates taints twice.
    ...validateTaints(asJsonObjects(spec['taints'])),
  ]
}

function validateAmounts({ capacity, allocatable }: JsonObject): FieldError[] {
  return Object.entries({ capacity, allocatable }).flatMap(([list, amounts]) =>
    Object.entries(asJsonObject(amounts)).flatMap(([name, amount]) =>
      isNegative(amount) ? [invalidValue(`status.${list}.${name}`, amount, 'must be greater than or equal to 0')] : [],
    ),
  )
}

/** kube-apiserver reports taints under `metadata`, though they are in the spec. */
function validateTaints(taints: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap(({ key, value, effect, timeAdded }, index) => {
    const field = `metadata.taints[${index}]`
    const errors = [
      ...invalidEach(`${field}.key`, key ?? '', qualifiedName(asString(key))),
      ...invalidEach(`${field}.value`, value ?? '', labelValue(asString(value))),
    ]
    if (!effect) errors.push(required(`${field}.effect`))
    else if (!EFFECTS.includes(asString(effect))) errors.push(notSupported(`${field}.effect`, effect, EFFECTS))
    const id = `${asString(key)}\n${asString(effect)}`
    if (seen.has(id)) {
      const shown = { Key: key, Value: value ?? '', Effect: effect, TimeAdded: timeAdded ?? null }
      const { message, ...rest } = duplicateStruct(field, shown)
      errors.push({ ...rest, message: `${message}: taints must be unique by key and effect pair` })
    }
    seen.add(id)
    return errors
  })
}

function validateNetworks(networks: readonly string[]): FieldError[] {
  const errors = networks.flatMap((network, index) => validateNetwork(network, `spec.podCIDRs[${index}]`))
  if (errors.length > 0 || networks.length < 2) return errors
  const families = new Set(networks.map((network) => parseNetwork(network)?.address.length))
  if (networks.length === 2 && families.size === 2) return []
  return [invalidValue('spec.podCIDRs', networks, 'may specify no more than one CIDR for each IP family')]
}
