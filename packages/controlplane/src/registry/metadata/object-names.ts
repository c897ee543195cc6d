import { dnsLabel, dnsSubdomain, type NameRule, pathSegment } from '@tenure/kube/model'

/** The rule for names of a kind, by bucket; all others are subdomains. */
const RULES = new Map<string, NameRule>([
  ['namespaces', dnsLabel],
  ['services', dnsLabel],
  ['roles.rbac.authorization.k8s.io', pathSegment],
  ['rolebindings.rbac.authorization.k8s.io', pathSegment],
  ['clusterroles.rbac.authorization.k8s.io', pathSegment],
  ['clusterrolebindings.rbac.authorization.k8s.io', pathSegment],
])

export function checkName(bucket: string, name: string): readonly string[] {
  return RULES.get(bucket)?.(name) ?? dnsSubdomain(name)
}

/** A generateName is checked as if it ended in a letter, as the generated name does. */
export function checkNamePrefix(bucket: string, prefix: string): readonly string[] {
  return checkName(bucket, prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix)
}
