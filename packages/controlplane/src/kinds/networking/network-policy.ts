import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filled, isUnset, withField, withinField, withinItems } from '../../model/json.ts'
import { forbidden, invalidEach, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import { contains, maskAddress } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { looseNetwork, validateNetwork } from '../common/ip-validation.ts'
import { networkWarnings } from '../common/ip-warnings.ts'
import type { KindTable } from '../common/kind-table.ts'
import { portName, portNumber } from '../common/names.ts'
import { formatSelector, validateSelector } from '../common/selectors.ts'

export const NETWORK_POLICIES: KindTable = {
  'networkpolicies.networking.k8s.io': {
    columns: (policy, age) => [
      nameOf(policy),
      formatSelector(valueAtPath(policy, 'spec', 'podSelector')),
      age(createdAt(policy)),
    ],
    rules: {
      defaults: (policy) => withinField(policy, 'spec', defaultPolicy),
      validate: validatePolicy,
      warnings: warningsForPolicy,
    },
  },
}

function defaultPolicy(given: JsonObject): JsonObject {
  let spec = given
  for (const list of ['ingress', 'egress']) {
    spec = withinItems(spec, list, (rule) => withinItems(rule, 'ports', (port) => filled(port, { protocol: 'TCP' })))
  }
  if (asArray(spec['policyTypes']).length > 0) return spec
  return withField(spec, 'policyTypes', asArray(spec['egress']).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'])
}

const TYPES = ['Ingress', 'Egress']
const PROTOCOLS = ['TCP', 'UDP', 'SCTP']

export function validatePolicy(policy: JsonObject): FieldError[] {
  const spec = asJsonObject(policy['spec'])
  const errors = validateSelector(spec['podSelector'] as LabelSelector | undefined, 'spec.podSelector')
  for (const [rules, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    asJsonObjects(spec[rules]).forEach((rule, index) => {
      const field = `spec.${rules}[${index}]`
      asJsonObjects(rule['ports']).forEach((port, at) => append(errors, validatePort(port, `${field}.ports[${at}]`)))
      asJsonObjects(rule[peers]).forEach((peer, at) => append(errors, validatePeer(peer, `${field}.${peers}[${at}]`)))
    })
  }
  const types = asArray(spec['policyTypes'])
  if (types.length > 2) {
    return [...errors, invalidValue('spec.policyTypes', types, 'may not specify more than two policyTypes')]
  }
  types.forEach((type, index) => {
    if (!TYPES.includes(asString(type))) errors.push(notSupported(`spec.policyTypes[${index}]`, type, TYPES))
  })
  return errors
}

export function warningsForPolicy(policy: JsonObject): readonly string[] {
  return [
    ['ingress', 'from'],
    ['egress', 'to'],
  ].flatMap(([rules = '', peers = '']) =>
    asJsonObjects(valueAtPath(policy, 'spec', rules)).flatMap((rule, index) =>
      asJsonObjects(rule[peers]).flatMap(({ ipBlock }, place) => {
        const field = `spec.${rules}[${index}].${peers}[${place}].ipBlock`
        const { cidr, except } = asJsonObject(ipBlock)
        return [
          ...networkWarnings(asString(cidr), `${field}.cidr`),
          ...asArray(except).flatMap((one, which) => networkWarnings(asString(one), `${field}.except[${which}]`)),
        ]
      }),
    ),
  )
}

function validatePort({ protocol, port, endPort }: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (!isUnset(protocol) && !PROTOCOLS.includes(asString(protocol))) {
    errors.push(notSupported(`${field}.protocol`, protocol, PROTOCOLS))
  }
  const hasEnd = typeof endPort === 'number'
  const endField = `${field}.endPort`
  if (typeof port === 'number') {
    errors.push(...invalidEach(`${field}.port`, port, portNumber(port)))
    if (!hasEnd) return errors
    // kube-apiserver reports `port` here, not `endPort`.
    if (endPort < port) errors.push(invalidValue(endField, port, 'must be greater than or equal to `port`'))
    return [...errors, ...invalidEach(endField, endPort, portNumber(endPort))]
  }
  const why = typeof port === 'string' ? 'non-numeric' : 'not specified'
  if (hasEnd) errors.push(invalidValue(endField, endPort, `may not be specified when \`port\` is ${why}`))
  return typeof port === 'string' ? [...errors, ...invalidEach(`${field}.port`, port, portName(port))] : errors
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: JsonObject, field: string): FieldError[] {
  const errors = [
    ...validateSelector(podSelector as LabelSelector | undefined, `${field}.podSelector`),
    ...validateSelector(namespaceSelector as LabelSelector | undefined, `${field}.namespaceSelector`),
  ]
  const selects = isJsonObject(podSelector) || isJsonObject(namespaceSelector)
  if (!isJsonObject(ipBlock)) return selects ? errors : [...errors, required(field, 'must specify a peer')]
  append(errors, validateBlock(ipBlock, `${field}.ipBlock`))
  if (selects) errors.push(forbidden(field, 'may not specify both ipBlock and another peer'))
  return errors
}

function validateBlock({ cidr, except }: JsonObject, field: string): FieldError[] {
  const text = asString(cidr)
  if (text === '') return [required(`${field}.cidr`)]
  const errors = validateNetwork(text, `${field}.cidr`)
  const whole = looseNetwork(text)
  if (!whole) return errors
  asArray(except)
    .map(asString)
    .forEach((one, index) => {
      const place = `${field}.except[${index}]`
      append(errors, validateNetwork(one, place))
      const part = looseNetwork(one)
      if (!part) return
      const isWithin = part.bits > whole.bits && contains(whole, maskAddress(part.address, part.bits))
      if (!isWithin) errors.push(invalidValue(place, one, 'must be a strict subset of `cidr`'))
    })
  return errors
}
