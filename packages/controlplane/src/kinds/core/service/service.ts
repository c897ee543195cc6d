import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import {
  asJsonObjects,
  asNumber,
  filled,
  filledUnset,
  isSemanticallyEqual,
  isUnset,
  withField,
  withinField,
  withinItems,
} from '../../../model/json.ts'
import { invalidValue } from '../../../schema/field-errors.ts'
import { parseAddress } from '../../../schema/formats/addresses.ts'
import type { FieldError } from '../../../schema/types.ts'
import { createdAt, nameOf } from '../../common/columns.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { formatLabels } from '../../common/selectors.ts'
import type { ServiceAddressAllocator } from './service-addresses.ts'
import {
  isHeadless,
  isOutside,
  needsAddress,
  needsHealthPort,
  needsPorts,
  ALLOCATION_ERRORS,
  typeOf,
  validateChange,
  validateService,
} from './service-validation.ts'
import { warningsForService } from './service-warnings.ts'

export function serviceKinds(addresses: ServiceAddressAllocator): KindTable {
  return {
    services: {
      columns: (service, age) => [
        nameOf(service),
        asString(valueAtPath(service, 'spec', 'type')),
        asString(asArray(valueAtPath(service, 'spec', 'clusterIPs'))[0]) || '<none>',
        externalAddress(service),
        portsColumn(service),
        age(createdAt(service)),
        formatLabels(valueAtPath(service, 'spec', 'selector')),
      ],
      rules: {
        generation: false,
        newStatus: { loadBalancer: {} },
        defaults: (service) => withinField(service, 'spec', defaultSpec),
        prepareForCreate: (service) => allocate(service, undefined, addresses),
        prepareForUpdate: (service, old) => {
          const kept = withinField(service, 'spec', (spec) => keepAllocated(spec, asJsonObject(old['spec'])))
          return allocate(kept, asJsonObject(old['spec']), addresses)
        },
        warnings: warningsForService,
        validate: validateService,
        validateChange: (service, old) => validateChange(asJsonObject(service['spec']), asJsonObject(old['spec'])),
        selectableFields: {
          'spec.clusterIP': (service) => asString(valueAtPath(service, 'spec', 'clusterIP')),
          'spec.type': (service) => asString(valueAtPath(service, 'spec', 'type')),
        },
        allowsCreateOnUpdate: true,
        returnsDeletedObject: true,
      },
    },
  }
}

function defaultSpec(given: JsonObject): JsonObject {
  let spec = filledUnset(given, { sessionAffinity: 'None', type: 'ClusterIP' })
  if (spec['sessionAffinity'] === 'None') spec = withField(spec, 'sessionAffinityConfig', undefined)
  if (spec['sessionAffinity'] === 'ClientIP') {
    const seconds = valueAtPath(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds')
    // Only an absent value is defaulted; validation rejects 0.
    if (seconds === undefined || seconds === null)
      spec = withField(spec, 'sessionAffinityConfig', { clientIP: { timeoutSeconds: 10_800 } })
  }
  spec = withinItems(spec, 'ports', (port) =>
    filledUnset(filledUnset(port, { protocol: 'TCP' }), { targetPort: port['port'] }),
  )
  if (isOutside(spec)) spec = filledUnset(spec, { externalTrafficPolicy: 'Cluster' })
  if (needsAddress(spec)) spec = filled(spec, { internalTrafficPolicy: 'Cluster' })
  return typeOf(spec) === 'LoadBalancer' ? filled(spec, { allocateLoadBalancerNodePorts: true }) : spec
}

/** Keeps `clusterIP` equal to the first of `clusterIPs`. */
function alignAddresses(spec: JsonObject, old: JsonObject | undefined): JsonObject {
  const [address, list] = [asString(spec['clusterIP']), asArray(spec['clusterIPs'])]
  if (old && isSemanticallyEqual(spec['clusterIPs'], old['clusterIPs']) && address !== asString(old['clusterIP'])) {
    return withField(spec, 'clusterIPs', address ? [address, ...list.slice(1)] : undefined)
  }
  if (address && list.length === 0) return withField(spec, 'clusterIPs', [address])
  return spec
}

const nodePortsOf = (spec: JsonObject): unknown[] => asJsonObjects(spec['ports']).map(({ nodePort }) => nodePort)

/** Keeps allocated values that an update omits, and drops those that the new type does not have. */
function keepAllocated(given: JsonObject, old: JsonObject): JsonObject {
  let spec = given
  if (needsAddress(old) && needsAddress(spec)) {
    spec = filledUnset(spec, { clusterIP: old['clusterIP'] })
    if (asArray(spec['clusterIPs']).length === 0) spec = withField(spec, 'clusterIPs', old['clusterIPs'])
    spec = filled(spec, { ipFamilies: old['ipFamilies'], ipFamilyPolicy: old['ipFamilyPolicy'] })
  }
  if (needsAddress(old) && !needsAddress(spec)) {
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']) {
      if (isSemanticallyEqual(spec[field], old[field])) spec = withField(spec, field, undefined)
    }
  }
  if (needsPorts(old) && needsPorts(spec)) {
    const before = new Map(asJsonObjects(old['ports']).map((port) => [asString(port['name']), port['nodePort']]))
    const used = new Set(asJsonObjects(spec['ports']).map(({ nodePort }) => nodePort))
    spec = withinItems(spec, 'ports', (port) => {
      const was = before.get(asString(port['name']))
      return isUnset(port['nodePort']) && !isUnset(was) && !used.has(was) ? withField(port, 'nodePort', was) : port
    })
  } else if (needsPorts(old) && !needsPorts(spec)) {
    if (isSemanticallyEqual(nodePortsOf(spec), nodePortsOf(old))) {
      spec = withinItems(spec, 'ports', (port) => withField(port, 'nodePort', undefined))
    }
  }
  if (needsHealthPort(old) && needsHealthPort(spec)) {
    spec = filledUnset(spec, { healthCheckNodePort: old['healthCheckNodePort'] })
  }
  if (typeOf(old) === 'LoadBalancer' && typeOf(spec) !== 'LoadBalancer') {
    spec = withField(spec, 'allocateLoadBalancerNodePorts', undefined)
  }
  if (isOutside(old) && !isOutside(spec) && spec['externalTrafficPolicy'] === old['externalTrafficPolicy']) {
    spec = withField(spec, 'externalTrafficPolicy', undefined)
  }
  return spec
}

/** Allocates the addresses and ports that the service lacks. */
function allocate(service: JsonObject, old: JsonObject | undefined, allocator: ServiceAddressAllocator): JsonObject {
  let spec = alignAddresses(asJsonObject(service['spec']), old)
  const allocationErrors: FieldError[] = []
  if (needsAddress(spec) && spec['ipFamilyPolicy'] === 'RequireDualStack') {
    const detail = 'this cluster is not configured for dual-stack services'
    allocationErrors.push(invalidValue('spec.ipFamilyPolicy', 'RequireDualStack', detail))
  } else if (needsAddress(spec)) {
    spec = defaultFamilies(spec)
    const before = asArray(old?.['clusterIPs'])
    const list = asArray(spec['clusterIPs'])
    if (list.length === 0) {
      const address = allocator.takeAddress()
      if (address === undefined)
        allocationErrors.push(invalidValue('spec.clusterIPs', [], 'failed to allocate a serviceIP: range is full'))
      else spec = { ...spec, clusterIP: address, clusterIPs: [address] }
    } else {
      for (const address of list) {
        if (typeof address !== 'string' || address === 'None' || before.includes(address) || !parseAddress(address))
          continue
        // Validation rejects a changed address, so none is reserved.
        if (before.length > 0) continue
        const why = allocator.claimAddress(address)
        if (why)
          allocationErrors.push(invalidValue('spec.clusterIPs', list, `failed to allocate IP ${address}: ${why}`))
      }
    }
  }
  if (needsPorts(spec)) spec = allocatePorts(spec, old, allocator, allocationErrors)
  if (needsHealthPort(spec) && isUnset(spec['healthCheckNodePort'])) {
    spec = withField(spec, 'healthCheckNodePort', allocator.takePort())
  }
  const result = withField(service, 'spec', spec)
  if (allocationErrors.length > 0) ALLOCATION_ERRORS.set(spec, allocationErrors)
  return result
}

function allocatePorts(
  spec: JsonObject,
  old: JsonObject | undefined,
  allocator: ServiceAddressAllocator,
  allocationErrors: FieldError[],
): JsonObject {
  const before = new Set(asJsonObjects(old?.['ports']).map(({ nodePort }) => nodePort))
  let index = -1
  // TCP and UDP may share a port number, so it is claimed once.
  const claimed = new Set<unknown>()
  return withinItems(spec, 'ports', (port) => {
    index++
    const number = port['nodePort']
    if (isUnset(number)) return withField(port, 'nodePort', allocator.takePort())
    if (before.has(number) || claimed.has(number)) return port
    claimed.add(number)
    const why = allocator.claimPort(Number(number))
    if (why) allocationErrors.push(invalidValue(`spec.ports[${index}].nodePort`, number, why))
    return port
  })
}

function defaultFamilies(spec: JsonObject): JsonObject {
  // A headless service without a selector may have endpoints of both families.
  const isOpen = isHeadless(spec) && Object.keys(asJsonObject(spec['selector'])).length === 0
  if (isOpen) return filled(spec, { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' })
  return filled(spec, { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
}

function externalAddress(service: JsonObject): string {
  const spec = asJsonObject(service['spec'])
  const external = asArray(spec['externalIPs']).map(asString)
  switch (typeOf(spec)) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>'
    case 'LoadBalancer': {
      const balanced = asJsonObjects(valueAtPath(service, 'status', 'loadBalancer', 'ingress'))
        .map(({ ip, hostname }) => asString(ip) || asString(hostname))
        .filter(Boolean)
      return [...new Set(balanced.toSorted()), ...external].join(',') || '<pending>'
    }
    case 'ExternalName':
      return asString(spec['externalName'])
    default:
      return '<unknown>'
  }
}

function portsColumn(service: JsonObject): string {
  const ports = asJsonObjects(valueAtPath(service, 'spec', 'ports')).map(({ port, nodePort, protocol }) =>
    isUnset(nodePort)
      ? `${asNumber(port)}/${asString(protocol)}`
      : `${asNumber(port)}:${asNumber(nodePort)}/${asString(protocol)}`,
  )
  return ports.join(',') || '<none>'
}
