import { type ClusterRole, Secret, ValidatingWebhookConfiguration } from '@tenure/kube/kinds'

type PolicyRule = NonNullable<ClusterRole['rules']>[number]

/** What the operator of LeaseControllers is called: its Service and its webhook configuration, too. */
export const LEASE_OPERATOR = 'object-lease-operator'
/** Where its replicas share the certificate of the webhook. */
export const LEASE_WEBHOOK_SECRET = 'object-lease-operator-webhook'

/** What it takes to check annotations at admission: everywhere, and where the operator runs. */
export interface LeaseAdmissionRules {
  readonly cluster: readonly PolicyRule[]
  readonly home: readonly PolicyRule[]
}

/** A create can not be bound to names, because a new object has none yet; of those that are there it may touch only these. */
export const leaseAdmissionRules: LeaseAdmissionRules = {
  cluster: [named(ValidatingWebhookConfiguration, LEASE_OPERATOR, ['get', 'list', 'watch', 'create', 'patch'])],
  home: [rule(Secret, ['create']), named(Secret, LEASE_WEBHOOK_SECRET, ['get', 'list', 'watch', 'update'])],
}

function named(kind: { readonly group: string; readonly plural: string }, name: string, verbs: string[]): PolicyRule {
  return { ...rule(kind, verbs), resourceNames: [name] }
}

function rule({ group, plural }: { readonly group: string; readonly plural: string }, verbs: string[]): PolicyRule {
  return { apiGroups: [group], resources: [plural], verbs }
}
