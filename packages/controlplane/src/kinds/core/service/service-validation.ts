import { parseNetwork } from '../../../schema/formats/addresses.ts'
import type { FieldError } from '../../../schema/types.ts'
import {
  duplicate,
  duplicateStruct,
  forbiddenField,
  invalidEach,
  invalidValue,
  notSupported,
  required,
} from '../../common/field-errors.ts'
import { validatePort } from '../pod/container-validation.ts'
import { validateAddress } from '../../common/ip-validation.ts'
import type { Json } from '../../../model/json.ts'
import { asJson, asJsons, asList, asNumber, asText, at, isJson, isUnset } from '../../../model/json.ts'
import { validateLabels } from '../../common/labels.ts'
import { dnsLabel, dnsSubdomain, portNumber, qualifiedName } from '../../common/names.ts'
import { oneOf } from '../pod/pod-validation.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
/** What could not be had, from preparation to validation: by the spec that asked for it. */
export const REFUSED = new WeakMap<object, FieldError[]>()

export const typeOf = (spec: Json): string => asText(spec['type'])
export const needsAddress = (spec: Json): boolean => typeOf(spec) !== 'ExternalName'
export const isHeadless = (spec: Json): boolean => asList(spec['clusterIPs'])[0] === 'None'
export const needsPorts = (spec: Json): boolean =>
  typeOf(spec) === 'NodePort' || (typeOf(spec) === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)
export const isOutside = (spec: Json): boolean => typeOf(spec) === 'NodePort' || typeOf(spec) === 'LoadBalancer'
export const needsHealthPort = (spec: Json): boolean =>
  typeOf(spec) === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'

export function validateService(service: Json): FieldError[] {
  const spec = asJson(service['spec'])
  const ports = asJsons(spec['ports'])
  const type = typeOf(spec)
  const wrong: FieldError[] = []
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') wrong.push(required('spec.ports'))
  if (isHeadless(spec) && isOutside(spec)) {
    wrong.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  }
  if (type === 'ExternalName') wrong.push(...validateExternalName(spec))
  wrong.push(...validatePorts(ports), ...validateLabels(spec['selector'], 'spec.selector'))
  wrong.push(...oneOf(spec['sessionAffinity'], 'spec.sessionAffinity', ['ClientIP', 'None']))
  wrong.push(...validateAffinityConfig(spec))
  if (type !== 'ExternalName') wrong.push(...validateAddresses(spec))
  asList(spec['externalIPs']).forEach((address, index) => {
    const found = validateAddress(asText(address), `spec.externalIPs[${index}]`, true)
    wrong.push(...found.slice(0, 1))
  })
  wrong.push(...oneOf(type, 'spec.type', TYPES))
  wrong.push(...validateUniquePorts(ports, type))
  wrong.push(...validateSourceRanges(asList(spec['loadBalancerSourceRanges']), type))
  if (!isUnset(spec['allocateLoadBalancerNodePorts']) && type !== 'LoadBalancer') {
    const detail = "may only be used when `type` is 'LoadBalancer'"
    wrong.push(forbiddenField('spec.allocateLoadBalancerNodePorts', detail))
  }
  wrong.push(...validateTraffic(spec))
  return wrong.length > 0 ? wrong : (REFUSED.get(spec) ?? [])
}

const LONGEST_AFFINITY = 86_400

function validateAffinityConfig(spec: Json): FieldError[] {
  const { sessionAffinity, sessionAffinityConfig: config } = spec
  const field = 'spec.sessionAffinityConfig'
  if (sessionAffinity === 'None' && isJson(config)) {
    return [forbiddenField(field, 'must not be set when session affinity is None')]
  }
  const seconds = at(config, 'clientIP', 'timeoutSeconds')
  if (sessionAffinity !== 'ClientIP' || typeof seconds !== 'number') return []
  if (seconds > 0 && seconds <= LONGEST_AFFINITY) return []
  const detail = `must be greater than 0 and less than ${LONGEST_AFFINITY}`
  return [invalidValue(`${field}.clientIP.timeoutSeconds`, seconds, detail)]
}

function validateSourceRanges(ranges: readonly unknown[], type: string): FieldError[] {
  const field = 'spec.LoadBalancerSourceRanges'
  if (ranges.length > 0 && type !== 'LoadBalancer') {
    return [forbiddenField(field, "may only be used when `type` is 'LoadBalancer'")]
  }
  const detail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  return ranges.flatMap((range, index) =>
    parseNetwork(asText(range).trim()) ? [] : [invalidValue(`${field}[${index}]`, range, detail)],
  )
}

function validateExternalName(spec: Json): FieldError[] {
  const wrong: FieldError[] = []
  const forbidden = 'may not be set for ExternalName services'
  if (asList(spec['clusterIPs']).length > 0) wrong.push(forbiddenField('spec.clusterIPs', forbidden))
  if (asList(spec['ipFamilies']).length > 0) wrong.push(forbiddenField('spec.ipFamilies', forbidden))
  if (!isUnset(spec['ipFamilyPolicy'])) wrong.push(forbiddenField('spec.ipFamilyPolicy', forbidden))
  const name = asText(spec['externalName']).replace(/\.$/, '')
  if (name) wrong.push(...invalidEach('spec.externalName', name, dnsSubdomain(name)))
  else wrong.push(required('spec.externalName'))
  return wrong
}

function validatePorts(ports: readonly Json[]): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name, port, protocol, targetPort, appProtocol }, index) => {
    const field = `spec.ports[${index}]`
    const wrong: FieldError[] = []
    const text = asText(name)
    if (text) {
      wrong.push(...invalidEach(`${field}.name`, text, dnsLabel(text)))
      if (names.has(text)) wrong.push(duplicate(`${field}.name`, text))
      names.add(text)
    } else if (ports.length > 1) wrong.push(required(`${field}.name`))
    wrong.push(...invalidEach(`${field}.port`, port ?? 0, portNumber(asNumber(port))))
    wrong.push(...oneOf(protocol, `${field}.protocol`, PROTOCOLS))
    // An absent one was the port itself: said once is enough.
    if (targetPort !== port || asNumber(port) > 0) wrong.push(...validatePort(targetPort, `${field}.targetPort`))
    if (appProtocol) wrong.push(...invalidEach(`${field}.appProtocol`, appProtocol, qualifiedName(asText(appProtocol))))
    return wrong
  })
}

function validateUniquePorts(ports: readonly Json[], type: string): FieldError[] {
  const wrong: FieldError[] = []
  const [numbers, nodePorts] = [new Set<string>(), new Set<string>()]
  ports.forEach(({ nodePort }, index) => {
    if (type === 'ClusterIP' && !isUnset(nodePort)) {
      wrong.push(forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"))
    }
  })
  ports.forEach(({ protocol, nodePort }, index) => {
    const key = `${asText(protocol)}/${String(nodePort)}`
    if (isUnset(nodePort)) return
    if (nodePorts.has(key)) wrong.push(duplicate(`spec.ports[${index}].nodePort`, nodePort))
    nodePorts.add(key)
  })
  ports.forEach(({ protocol, port }, index) => {
    const key = `${asText(protocol)}/${String(port)}`
    if (numbers.has(key)) {
      const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 }
      wrong.push(duplicateStruct(`spec.ports[${index}]`, shown))
    }
    numbers.add(key)
  })
  return wrong
}

function validateAddresses(spec: Json): FieldError[] {
  const [address, list] = [asText(spec['clusterIP']), asList(spec['clusterIPs'])]
  const field = 'spec.clusterIPs'
  const wrong: FieldError[] = []
  if (address && list.length === 0) wrong.push(required(field))
  else if (address && list[0] !== address) wrong.push(invalidValue(field, list, 'first value must match `clusterIP`'))
  else if (!address && list.length > 0) {
    wrong.push(invalidValue(field, list, 'must be empty when `clusterIP` is not specified'))
  }
  const seen = new Set<unknown>()
  asList(spec['ipFamilies']).forEach((family, index) => {
    const path = `spec.ipFamilies[${index}]`
    if (family !== 'IPv4' && family !== 'IPv6') wrong.push(notSupported(path, family, ['IPv4', 'IPv6']))
    if (seen.has(family)) wrong.push(duplicate(path, family))
    seen.add(family)
  })
  const policy = spec['ipFamilyPolicy']
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  if (!isUnset(policy) && !policies.includes(asText(policy))) {
    wrong.push(notSupported('spec.ipFamilyPolicy', policy, policies))
  }
  list.forEach((one, index) => {
    if (index === 0 && one === 'None') {
      if (list.length > 1) wrong.push(invalidValue(field, list, "'None' must be the first and only value"))
    } else wrong.push(...validateAddress(asText(one), `${field}[${index}]`))
  })
  if (list.length > 2) wrong.push(invalidValue(field, list, 'may only hold up to 2 values'))
  return wrong
}

function validateTraffic(spec: Json): FieldError[] {
  const { externalTrafficPolicy: outer, internalTrafficPolicy: inner } = spec
  const policies = ['Cluster', 'Local']
  const wrong: FieldError[] = []
  if (!isUnset(outer)) {
    if (!isOutside(spec) && asList(spec['externalIPs']).length === 0) {
      const detail = 'may only be set for externally-accessible services'
      wrong.push(invalidValue('spec.externalTrafficPolicy', outer, detail))
    } else if (!policies.includes(asText(outer))) {
      wrong.push(notSupported('spec.externalTrafficPolicy', outer, policies))
    }
  }
  if (!isUnset(inner) && !policies.includes(asText(inner))) {
    wrong.push(notSupported('spec.internalTrafficPolicy', inner, policies))
  }
  return wrong
}

export function validateChange(spec: Json, old: Json): FieldError[] {
  if (!needsAddress(spec) || !needsAddress(old) || (isHeadless(spec) && isHeadless(old))) return []
  const [list, before] = [asList(spec['clusterIPs']), asList(old['clusterIPs'])]
  if (list.length === 0 && before.length > 0) {
    return [invalidValue('spec.clusterIPs[0]', list, 'primary clusterIP can not be unset')]
  }
  const length = list.length === before.length ? list.length : Math.min(list.length, before.length, 1)
  return Array.from({ length }, (_, index) => index)
    .filter((index) => list[index] !== before[index])
    .map((index) => invalidValue(`spec.clusterIPs[${index}]`, list, 'may not change once set'))
}
