import { formatAddress, isMapped, parseAddress } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'
import { addressAdvice } from '../common/ip-warnings.ts'
import { createdAt, listWithMore, nameOf } from '../common/columns.ts'
import { duplicate, invalidEach, invalidValue, notSupported, required } from '../common/field-errors.ts'
import { validateClassOfIngresses } from './ingress-class.ts'
import { adviseOnIngressClass, validateIngress, validateIngressClass } from './ingress-validation.ts'
import { validateAddress } from '../common/ip-validation.ts'
import type { Json } from '../../model/json.ts'
import {
  asJson,
  asJsons,
  asList,
  asText,
  at,
  filled,
  isUnset,
  withField,
  withinField,
  withinItems,
} from '../../model/json.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { dnsLabel } from '../common/names.ts'
import { adviseOnPolicy, validatePolicy } from './network-policy.ts'
import { formatSelector } from '../common/selectors.ts'

/** How pods are reached. */
export const NETWORKING: KindTable = {
  'ingresses.networking.k8s.io': {
    cells: (ingress, age) => {
      const rules = asJsons(at(ingress, 'spec', 'rules'))
      const balanced = asJsons(at(ingress, 'status', 'loadBalancer', 'ingress'))
        .map(({ ip, hostname }) => asText(ip) || asText(hostname))
        .filter(Boolean)
      return [
        nameOf(ingress),
        asText(at(ingress, 'spec', 'ingressClassName')) || '<none>',
        hostsCell(rules.map(({ host }) => asText(host)).filter(Boolean), rules.length),
        [...new Set(balanced.toSorted())].join(','),
        asList(at(ingress, 'spec', 'tls')).length > 0 ? '80, 443' : '80',
        age(createdAt(ingress)),
      ]
    },
    rules: {
      newStatus: { loadBalancer: {} },
      validate: (ingress) => validateIngress(asJson(ingress['spec'])),
      advise: adviseOnIngressClass,
      validateNew: validateIngressClass,
      validateChange: () => [],
    },
  },
  'ingressclasses.networking.k8s.io': {
    cells: (ingressClass, age) => {
      const isDefault =
        at(ingressClass, 'metadata', 'annotations', 'ingressclass.kubernetes.io/is-default-class') === 'true'
      const { apiGroup, kind, name } = asJson(at(ingressClass, 'spec', 'parameters'))
      const parameters = kind ? `${asText(kind)}${apiGroup ? `.${asText(apiGroup)}` : ''}/${asText(name)}` : '<none>'
      return [
        isDefault ? `${nameOf(ingressClass)} (default)` : nameOf(ingressClass),
        asText(at(ingressClass, 'spec', 'controller')),
        parameters,
        age(createdAt(ingressClass)),
      ]
    },
    rules: {
      defaults: (ingressClass) =>
        withinField(ingressClass, 'spec', (spec) =>
          withinField(spec, 'parameters', (parameters) => filled(parameters, { scope: 'Cluster' })),
        ),
      validate: validateClassOfIngresses,
      validateUpdate: (next, old) => [
        ...unchanged('spec.controller', at(next, 'spec', 'controller') ?? '', at(old, 'spec', 'controller')),
        ...validateClassOfIngresses(next),
      ],
    },
  },
  'networkpolicies.networking.k8s.io': {
    cells: (policy, age) => [nameOf(policy), formatSelector(at(policy, 'spec', 'podSelector')), age(createdAt(policy))],
    rules: {
      defaults: (policy) => withinField(policy, 'spec', defaultPolicy),
      validate: validatePolicy,
      advise: adviseOnPolicy,
    },
  },
  'servicecidrs.networking.k8s.io': {
    cells: (cidr, age) => [
      nameOf(cidr),
      asList(at(cidr, 'spec', 'cidrs'))
        .map(asText)
        .join(','),
      age(createdAt(cidr)),
    ],
  },
  'ipaddresses.networking.k8s.io': {
    cells: (address) => {
      const { resource, group, namespace, name } = asJson(at(address, 'spec', 'parentRef'))
      const kind = group ? `${asText(resource)}.${asText(group)}` : asText(resource)
      return [nameOf(address), [kind, namespace, name].filter(Boolean).map(asText).join('/')]
    },
  },
  'endpointslices.discovery.k8s.io': {
    cells: (slice, age) => [
      nameOf(slice),
      asText(slice['addressType']),
      moreOrUnset(
        asJsons(slice['ports']).map(({ port, name }) =>
          typeof port === 'number' ? String(port) : asText(name) || '*',
        ),
      ),
      moreOrUnset(asJsons(slice['endpoints']).flatMap(({ addresses }) => asList(addresses).map(asText))),
      age(createdAt(slice)),
    ],
    rules: {
      defaults: (slice) => {
        const withPorts = withinItems(slice, 'ports', (port) => filled(port, { name: '', protocol: 'TCP' }))
        return withinItems(withPorts, 'endpoints', (endpoint) => filled(endpoint, { conditions: {} }))
      },
      advise: adviseOnSlice,
      validate: validateSlice,
      validateChange: (slice, old) => unchanged('addressType', slice['addressType'], old['addressType']),
    },
  },
}

const moreOrUnset = (list: readonly string[]): string => listWithMore(list, 3) || '<unset>'

function hostsCell(hosts: readonly string[], rules: number): string {
  if (hosts.length === 0) return '*'
  const list = hosts.slice(0, 3).join(',')
  return hosts.length > 3 ? `${list} + ${rules - 3} more...` : list
}

function defaultPolicy(given: Json): Json {
  let spec = given
  for (const list of ['ingress', 'egress']) {
    spec = withinItems(spec, list, (rule) => withinItems(rule, 'ports', (port) => filled(port, { protocol: 'TCP' })))
  }
  if (asList(spec['policyTypes']).length > 0) return spec
  return withField(spec, 'policyTypes', asList(spec['egress']).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'])
}

function adviseOnSlice(slice: Json, old: Json | undefined): readonly string[] {
  return [
    ...(!old && slice['addressType'] === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...asJsons(slice['endpoints']).flatMap(({ addresses }, index) =>
      asList(addresses).flatMap((address, place) =>
        addressAdvice(asText(address), `endpoints[${index}].addresses[${place}]`),
      ),
    ),
  ]
}

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']

function validateSlice(slice: Json): FieldError[] {
  const { addressType } = slice
  const wrong: FieldError[] = []
  if (isUnset(addressType)) wrong.push(required('addressType'))
  else if (!ADDRESS_TYPES.includes(asText(addressType))) {
    wrong.push(notSupported('addressType', addressType, ADDRESS_TYPES))
  }
  const names = new Set<string>()
  asJsons(slice['ports']).forEach(({ name, protocol }, index) => {
    const text = asText(name)
    if (text) wrong.push(...invalidEach(`ports[${index}].name`, text, dnsLabel(text)))
    if (names.has(text)) wrong.push(duplicate(`ports[${index}].name`, text))
    names.add(text)
    const protocols = ['SCTP', 'TCP', 'UDP']
    if (!protocols.includes(asText(protocol)))
      wrong.push(notSupported(`ports[${index}].protocol`, protocol ?? '', protocols))
  })
  asJsons(slice['endpoints']).forEach(({ addresses }, index) => {
    const list = asList(addresses).map(asText)
    const field = `endpoints[${index}].addresses`
    if (list.length === 0) wrong.push(required(field, 'must contain at least 1 address'))
    if (addressType === 'FQDN') return
    list.forEach((address, at) => wrong.push(...validateEndpoint(address, addressType, field, `${field}[${at}]`)))
  })
  return wrong
}

function validateEndpoint(address: string, type: unknown, list: string, field: string): FieldError[] {
  const parsed = parseAddress(address)
  // Unlike Endpoints, a slice says it once.
  if (!parsed || isMapped(parsed)) return validateAddress(address, field, true).slice(0, 1)
  const proper = formatAddress(parsed)
  if (type === 'IPv6' && proper !== address) {
    return [invalidValue(field, address, `must be in canonical form ("${proper}")`)]
  }
  const family = parsed.length === 4 ? 'IPv4' : 'IPv6'
  return [
    ...(family === type ? [] : [invalidValue(list, address, `must be an ${asText(type)} address`)]),
    ...validateAddress(address, field, true),
  ]
}
