import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asList, asText, filled, isJson, withField, withinField } from '../../model/json.ts'
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
import { labelValue, qualifiedName } from '../common/names.ts'
import { isNegative } from '../common/quantity.ts'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function defaultNode(node: Json): Json {
  return withinField(withinField(node, 'spec', defaultNetworks), 'status', (status) =>
    filled(status, { ...(isJson(status['capacity']) && { allocatable: status['capacity'] }) }),
  )
}

/** `podCIDR` equals the first of `podCIDRs`. */
function defaultNetworks(spec: Json): Json {
  const one = asText(spec['podCIDR'])
  const all = asList(spec['podCIDRs'])
  if (one === '') return all.length > 0 ? withField(spec, 'podCIDR', all[0]) : spec
  return all[0] === one ? spec : withField(spec, 'podCIDRs', [one])
}

export function validateNode(node: Json): FieldError[] {
  const spec = asJson(node['spec'])
  return [
    ...validateTaints(asJsons(spec['taints'])),
    ...validateAmounts(asJson(node['status'])),
    ...validateNetworks(asList(spec['podCIDRs']).map(asText)),
  ]
}

/** Drops `spec.configSource`, which Kubernetes removed. */
export const withoutConfigSource = (node: Json): Json =>
  withinField(node, 'spec', (spec) => withField(spec, 'configSource', undefined))

export function warningsForNode(node: Json): readonly string[] {
  const { externalID, podCIDRs } = asJson(node['spec'])
  return [
    ...(externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...asList(podCIDRs).flatMap((network, index) => networkWarnings(asText(network), `spec.podCIDRs[${index}]`)),
  ]
}

const IMMUTABLE_DETAIL = 'except from "" to valid'

/** Pod CIDRs and provider ID are immutable once set. */
export function validateNodeChange(node: Json, old: Json): FieldError[] {
  const [spec, before] = [asJson(node['spec']), asJson(old['spec'])]
  const [networks, held] = [asList(spec['podCIDRs']), asList(before['podCIDRs'])]
  // One error per changed CIDR, or one error if their number differs.
  const isAsMany = networks.length === held.length
  const moved = isAsMany ? held.filter((network, index) => network !== networks[index]) : held.slice(0, 1)
  const isOther = Boolean(before['providerID']) && before['providerID'] !== spec['providerID']
  return [
    ...moved.map(() => forbidden('spec.podCIDRs', `node updates may not change podCIDR ${IMMUTABLE_DETAIL}`)),
    ...(isOther ? [forbidden('spec.providerID', `node updates may not change providerID ${IMMUTABLE_DETAIL}`)] : []),
    // kube-apiserver validates taints twice.
    ...validateTaints(asJsons(spec['taints'])),
  ]
}

function validateAmounts({ capacity, allocatable }: Json): FieldError[] {
  return Object.entries({ capacity, allocatable }).flatMap(([list, amounts]) =>
    Object.entries(asJson(amounts)).flatMap(([name, amount]) =>
      isNegative(amount) ? [invalidValue(`status.${list}.${name}`, amount, 'must be greater than or equal to 0')] : [],
    ),
  )
}

/** kube-apiserver reports taints under `metadata`, though they are in the spec. */
function validateTaints(taints: readonly Json[]): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap(({ key, value, effect, timeAdded }, index) => {
    const field = `metadata.taints[${index}]`
    const errors = [
      ...invalidEach(`${field}.key`, key ?? '', qualifiedName(asText(key))),
      ...invalidEach(`${field}.value`, value ?? '', labelValue(asText(value))),
    ]
    if (!effect) errors.push(required(`${field}.effect`))
    else if (!EFFECTS.includes(asText(effect))) errors.push(notSupported(`${field}.effect`, effect, EFFECTS))
    const id = `${asText(key)}\n${asText(effect)}`
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
