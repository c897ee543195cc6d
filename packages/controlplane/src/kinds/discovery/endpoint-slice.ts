import type { JsonObject } from '@tenure/kube/model'
import { asArray, asString, dnsLabel } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filled, isUnset, withinItems } from '../../model/json.ts'
import { duplicate, invalidEach, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import { formatAddress, isMapped, parseAddress } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, listWithMore, nameOf } from '../common/columns.ts'
import { validateAddress } from '../common/ip-validation.ts'
import { addressWarnings } from '../common/ip-warnings.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

export const DISCOVERY: KindTable = {
  'endpointslices.discovery.k8s.io': {
    columns: (slice, age) => [
      nameOf(slice),
      asString(slice['addressType']),
      moreOrUnset(
        asJsonObjects(slice['ports']).map(({ port, name }) =>
          typeof port === 'number' ? String(port) : asString(name) || '*',
        ),
      ),
      moreOrUnset(asJsonObjects(slice['endpoints']).flatMap(({ addresses }) => asArray(addresses).map(asString))),
      age(createdAt(slice)),
    ],
    rules: {
      defaults: (slice) => {
        const withPorts = withinItems(slice, 'ports', (port) => filled(port, { name: '', protocol: 'TCP' }))
        return withinItems(withPorts, 'endpoints', (endpoint) => filled(endpoint, { conditions: {} }))
      },
      warnings: warningsForSlice,
      validate: validateSlice,
      validateChange: (slice, old) => unchanged('addressType', slice['addressType'], old['addressType']),
    },
  },
}

const moreOrUnset = (list: readonly string[]): string => listWithMore(list, 3) || '<unset>'

function warningsForSlice(slice: JsonObject, old: JsonObject | undefined): readonly string[] {
  return [
    ...(!old && slice['addressType'] === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...asJsonObjects(slice['endpoints']).flatMap(({ addresses }, index) =>
      asArray(addresses).flatMap((address, place) =>
        addressWarnings(asString(address), `endpoints[${index}].addresses[${place}]`),
      ),
    ),
  ]
}

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']

function validateSlice(slice: JsonObject): FieldError[] {
  const { addressType } = slice
  const errors: FieldError[] = []
  if (isUnset(addressType)) errors.push(required('addressType'))
  else if (!ADDRESS_TYPES.includes(asString(addressType))) {
    errors.push(notSupported('addressType', addressType, ADDRESS_TYPES))
  }
  const names = new Set<string>()
  asJsonObjects(slice['ports']).forEach(({ name, protocol }, index) => {
    const text = asString(name)
    if (text) errors.push(...invalidEach(`ports[${index}].name`, text, dnsLabel(text)))
    if (names.has(text)) errors.push(duplicate(`ports[${index}].name`, text))
    names.add(text)
    const protocols = ['SCTP', 'TCP', 'UDP']
    if (!protocols.includes(asString(protocol)))
      errors.push(notSupported(`ports[${index}].protocol`, protocol ?? '', protocols))
  })
  asJsonObjects(slice['endpoints']).forEach(({ addresses }, index) => {
    const list = asArray(addresses).map(asString)
    const field = `endpoints[${index}].addresses`
    if (list.length === 0) errors.push(required(field, 'must contain at least 1 address'))
    if (addressType === 'FQDN') return
    list.forEach((address, at) => append(errors, validateEndpoint(address, addressType, field, `${field}[${at}]`)))
  })
  return errors
}

function validateEndpoint(address: string, type: unknown, list: string, field: string): FieldError[] {
  const parsed = parseAddress(address)
  // For an EndpointSlice kube-apiserver reports only the first error, unlike for Endpoints.
  if (!parsed || isMapped(parsed)) return validateAddress(address, field, true).slice(0, 1)
  const proper = formatAddress(parsed)
  if (type === 'IPv6' && proper !== address) {
    return [invalidValue(field, address, `must be in canonical form ("${proper}")`)]
  }
  const family = parsed.length === 4 ? 'IPv4' : 'IPv6'
  return [
    ...(family === type ? [] : [invalidValue(list, address, `must be an ${asString(type)} address`)]),
    ...validateAddress(address, field, true),
  ]
}
