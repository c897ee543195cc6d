import type { JsonObject } from '@tenure/kube/model'
import {
  asArray,
  asJsonObject,
  asString,
  dnsLabel,
  dnsSubdomain,
  isJsonObject,
  qualifiedName,
  valueAtPath,
} from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects, asNumber, isUnset } from '../../../model/json.ts'
import {
  duplicate,
  duplicateStruct,
  forbidden,
  invalidEach,
  invalidValue,
  notSupported,
  required,
} from '../../../schema/field-errors.ts'
import { parseNetwork } from '../../../schema/formats/addresses.ts'
import type { FieldError } from '../../../schema/types.ts'
import { validateAddress } from '../../common/ip-validation.ts'
import { validateLabels } from '../../common/labels.ts'
import { portNumber } from '../../common/names.ts'
import { validatePort } from '../pod/container-validation.ts'
import { oneOf } from '../pod/pod-validation.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
/** Allocation errors, by spec: preparation records them and validation reports them. */
export const ALLOCATION_ERRORS = new WeakMap<object, FieldError[]>()

export const typeOf = (spec: JsonObject): string => asString(spec['type'])
export const needsAddress = (spec: JsonObject): boolean => typeOf(spec) !== 'ExternalName'
export const isHeadless = (spec: JsonObject): boolean => asArray(spec['clusterIPs'])[0] === 'None'
export const needsPorts = (spec: JsonObject): boolean =>
  typeOf(spec) === 'NodePort' || (typeOf(spec) === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)
export const isOutside = (spec: JsonObject): boolean => typeOf(spec) === 'NodePort' || typeOf(spec) === 'LoadBalancer'
export const needsHealthPort = (spec: JsonObject): boolean =>
  typeOf(spec) === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'

export function validateService(service: JsonObject): FieldError[] {
  const spec = asJsonObject(service['spec'])
  const ports = asJsonObjects(spec['ports'])
  const type = typeOf(spec)
  const errors: FieldError[] = []
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') errors.push(required('spec.ports'))
  if (isHeadless(spec) && isOutside(spec)) {
    errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  }
  if (type === 'ExternalName') append(errors, validateExternalName(spec))
  append(errors, validatePorts(ports), validateLabels(spec['selector'], 'spec.selector'))
  errors.push(...oneOf(spec['sessionAffinity'], 'spec.sessionAffinity', ['ClientIP', 'None']))
  append(errors, validateAffinityConfig(spec))
  if (type !== 'ExternalName') append(errors, validateAddresses(spec))
  asArray(spec['externalIPs']).forEach((address, index) => {
    const found = validateAddress(asString(address), `spec.externalIPs[${index}]`, true)
    append(errors, found.slice(0, 1))
  })
  errors.push(...oneOf(type, 'spec.type', TYPES))
  append(errors, validateUniquePorts(ports, type))
  append(errors, validateSourceRanges(asArray(spec['loadBalancerSourceRanges']), type))
  if (!isUnset(spec['allocateLoadBalancerNodePorts']) && type !== 'LoadBalancer') {
    const detail = "may only be used when `type` is 'LoadBalancer'"
    errors.push(forbidden('spec.allocateLoadBalancerNodePorts', detail))
  }
  append(errors, validateTraffic(spec))
  return errors.length > 0 ? errors : (ALLOCATION_ERRORS.get(spec) ?? [])
}

const MAX_AFFINITY_SECONDS = 86_400

function validateAffinityConfig(spec: JsonObject): FieldError[] {
  const { sessionAffinity, sessionAffinityConfig: config } = spec
  const field = 'spec.sessionAffinityConfig'
  if (sessionAffinity === 'None' && isJsonObject(config)) {
    return [forbidden(field, 'must not be set when session affinity is None')]
  }
  const seconds = valueAtPath(config, 'clientIP', 'timeoutSeconds')
  if (sessionAffinity !== 'ClientIP' || typeof seconds !== 'number') return []
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return []
  const detail = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`
  return [invalidValue(`${field}.clientIP.timeoutSeconds`, seconds, detail)]
}

function validateSourceRanges(ranges: readonly unknown[], type: string): FieldError[] {
  const field = 'spec.LoadBalancerSourceRanges'
  if (ranges.length > 0 && type !== 'LoadBalancer') {
    return [forbidden(field, "may only be used when `type` is 'LoadBalancer'")]
  }
  const detail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  return ranges.flatMap((range, index) =>
    parseNetwork(asString(range).trim()) ? [] : [invalidValue(`${field}[${index}]`, range, detail)],
  )
}

function validateExternalName(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const detail = 'may not be set for ExternalName services'
  if (asArray(spec['clusterIPs']).length > 0) errors.push(forbidden('spec.clusterIPs', detail))
  if (asArray(spec['ipFamilies']).length > 0) errors.push(forbidden('spec.ipFamilies', detail))
  if (!isUnset(spec['ipFamilyPolicy'])) errors.push(forbidden('spec.ipFamilyPolicy', detail))
  const name = asString(spec['externalName']).replace(/\.$/, '')
  if (name) errors.push(...invalidEach('spec.externalName', name, dnsSubdomain(name)))
  else errors.push(required('spec.externalName'))
  return errors
}

function validatePorts(ports: readonly JsonObject[]): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name, port, protocol, targetPort, appProtocol }, index) => {
    const field = `spec.ports[${index}]`
    const errors: FieldError[] = []
    const text = asString(name)
    if (text) {
      errors.push(...invalidEach(`${field}.name`, text, dnsLabel(text)))
      if (names.has(text)) errors.push(duplicate(`${field}.name`, text))
      names.add(text)
    } else if (ports.length > 1) errors.push(required(`${field}.name`))
    errors.push(...invalidEach(`${field}.port`, port ?? 0, portNumber(asNumber(port))))
    errors.push(...oneOf(protocol, `${field}.protocol`, PROTOCOLS))
    // The default is the port itself, whose error is already reported.
    if (targetPort !== port || asNumber(port) > 0) append(errors, validatePort(targetPort, `${field}.targetPort`))
    if (appProtocol)
      errors.push(...invalidEach(`${field}.appProtocol`, appProtocol, qualifiedName(asString(appProtocol))))
    return errors
  })
}

function validateUniquePorts(ports: readonly JsonObject[], type: string): FieldError[] {
  const errors: FieldError[] = []
  const [numbers, nodePorts] = [new Set<string>(), new Set<string>()]
  ports.forEach(({ nodePort }, index) => {
    if (type === 'ClusterIP' && !isUnset(nodePort)) {
      errors.push(forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"))
    }
  })
  ports.forEach(({ protocol, nodePort }, index) => {
    const key = `${asString(protocol)}/${String(nodePort)}`
    if (isUnset(nodePort)) return
    if (nodePorts.has(key)) errors.push(duplicate(`spec.ports[${index}].nodePort`, nodePort))
    nodePorts.add(key)
  })
  ports.forEach(({ protocol, port }, index) => {
    const key = `${asString(protocol)}/${String(port)}`
    if (numbers.has(key)) {
      const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 }
      errors.push(duplicateStruct(`spec.ports[${index}]`, shown))
    }
    numbers.add(key)
  })
  return errors
}

function validateAddresses(spec: JsonObject): FieldError[] {
  const [address, list] = [asString(spec['clusterIP']), asArray(spec['clusterIPs'])]
  const field = 'spec.clusterIPs'
  const errors: FieldError[] = []
  if (address && list.length === 0) errors.push(required(field))
  else if (address && list[0] !== address) errors.push(invalidValue(field, list, 'first value must match `clusterIP`'))
  else if (!address && list.length > 0) {
    errors.push(invalidValue(field, list, 'must be empty when `clusterIP` is not specified'))
  }
  const seen = new Set<unknown>()
  asArray(spec['ipFamilies']).forEach((family, index) => {
    const path = `spec.ipFamilies[${index}]`
    if (family !== 'IPv4' && family !== 'IPv6') errors.push(notSupported(path, family, ['IPv4', 'IPv6']))
    if (seen.has(family)) errors.push(duplicate(path, family))
    seen.add(family)
  })
  const policy = spec['ipFamilyPolicy']
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  if (!isUnset(policy) && !policies.includes(asString(policy))) {
    errors.push(notSupported('spec.ipFamilyPolicy', policy, policies))
  }
  list.forEach((one, index) => {
    if (index === 0 && one === 'None') {
      if (list.length > 1) errors.push(invalidValue(field, list, "'None' must be the first and only value"))
    } else append(errors, validateAddress(asString(one), `${field}[${index}]`))
  })
  if (list.length > 2) errors.push(invalidValue(field, list, 'may only hold up to 2 values'))
  return errors
}

function validateTraffic(spec: JsonObject): FieldError[] {
  const { externalTrafficPolicy: outer, internalTrafficPolicy: inner } = spec
  const policies = ['Cluster', 'Local']
  const errors: FieldError[] = []
  if (!isUnset(outer)) {
    if (!isOutside(spec) && asArray(spec['externalIPs']).length === 0) {
      const detail = 'may only be set for externally-accessible services'
      errors.push(invalidValue('spec.externalTrafficPolicy', outer, detail))
    } else if (!policies.includes(asString(outer))) {
      errors.push(notSupported('spec.externalTrafficPolicy', outer, policies))
    }
  }
  if (!isUnset(inner) && !policies.includes(asString(inner))) {
    errors.push(notSupported('spec.internalTrafficPolicy', inner, policies))
  }
  return errors
}

export function validateChange(spec: JsonObject, old: JsonObject): FieldError[] {
  if (!needsAddress(spec) || !needsAddress(old) || (isHeadless(spec) && isHeadless(old))) return []
  const [list, before] = [asArray(spec['clusterIPs']), asArray(old['clusterIPs'])]
  if (list.length === 0 && before.length > 0) {
    return [invalidValue('spec.clusterIPs[0]', list, 'primary clusterIP can not be unset')]
  }
  const length = list.length === before.length ? list.length : Math.min(list.length, before.length, 1)
  return Array.from({ length }, (_, index) => index)
    .filter((index) => list[index] !== before[index])
    .map((index) => invalidValue(`spec.clusterIPs[${index}]`, list, 'may not change once set'))
}
