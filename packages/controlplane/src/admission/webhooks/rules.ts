import type { AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { ConfiguredRule } from './webhook.ts'

type Operation = AdmissionAttributes['operation']

/** Admission configurations are exempt from webhooks: otherwise a broken webhook could block its own repair. */
export function isExempt({ group, kind }: ResourceDefinition): boolean {
  return group === 'admissionregistration.k8s.io' && EXEMPT.has(kind)
}

const EXEMPT = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])

export function ruleMatches(
  rule: ConfiguredRule,
  operation: Operation,
  { group, version, plural, namespaced }: ResourceDefinition,
  subresource: string,
): boolean {
  return (
    (rule.scope === '*' || rule.scope === (namespaced ? 'Namespaced' : 'Cluster')) &&
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, group) &&
    includes(rule.apiVersions, version) &&
    rule.resources.some((resource) => resourceMatches(resource, plural, subresource))
  )
}

function includes(items: readonly string[], wanted: string): boolean {
  return items.includes('*') || items.includes(wanted)
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const resource = slash < 0 ? pattern : pattern.slice(0, slash)
  const sub = slash < 0 ? '' : pattern.slice(slash + 1)
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource)
}
