import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { addressWarnings, networkWarnings } from '../../common/ip-warnings.ts'

const TOPOLOGY_HINTS_ANNOTATION = 'service.kubernetes.io/topology-aware-hints'
const TOPOLOGY_MODE_ANNOTATION = 'service.kubernetes.io/topology-mode'

/** Warns of fields that have no effect. */
export function warningsForService(service: JsonObject): readonly string[] {
  const spec = asJsonObject(service['spec'])
  const { type, clusterIP, loadBalancerIP, sessionAffinity, externalName, trafficDistribution } = spec
  const [addresses, outside] = [asArray(spec['clusterIPs']).map(asString), asArray(spec['externalIPs']).map(asString)]
  const isHeadless = type === 'ClusterIP' && clusterIP === 'None'
  const isName = type === 'ExternalName'
  const warnings: string[] = []
  const sayIf = (condition: boolean, text: string): void => {
    if (condition) warnings.push(text)
  }
  sayIf(
    valueAtPath(service, 'metadata', 'annotations', TOPOLOGY_HINTS_ANNOTATION) !== undefined,
    `annotation ${TOPOLOGY_HINTS_ANNOTATION} is deprecated, please use ${TOPOLOGY_MODE_ANNOTATION} instead`,
  )
  addresses.forEach((address, index) => append(warnings, addressWarnings(address, `spec.clusterIPs[${index}]`)))
  sayIf(isHeadless && Boolean(loadBalancerIP), 'spec.loadBalancerIP is ignored for headless services')
  sayIf(isHeadless && outside.length > 0, 'spec.externalIPs is ignored for headless services')
  sayIf(isHeadless && sessionAffinity !== 'None', 'spec.SessionAffinity is ignored for headless services')
  outside.forEach((address, index) => append(warnings, addressWarnings(address, `spec.externalIPs[${index}]`)))
  sayIf(
    outside.length > 0 && !isHeadless && !isName,
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  )
  append(warnings, addressWarnings(asString(loadBalancerIP), 'spec.loadBalancerIP'))
  asArray(spec['loadBalancerSourceRanges']).forEach((range, index) =>
    append(warnings, networkWarnings(asString(range), `spec.loadBalancerSourceRanges[${index}]`)),
  )
  sayIf(isName && outside.length > 0, 'spec.externalIPs is ignored when spec.type is "ExternalName"')
  sayIf(!isName && Boolean(externalName), 'spec.externalName is ignored when spec.type is not "ExternalName"')
  sayIf(
    trafficDistribution === 'PreferClose',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  )
  return warnings
}
