import { applications, clusterRules, namespaceRules, workloadRules } from '@tenure/applications'
import { claimRules, claims } from '@tenure/claims'
import { databases, databasesRbac } from '@tenure/databases'
import { leaseAdmissionRules, leaseControllers, leaseOperatorRules } from '@tenure/leases'
import type { Operator, PolicyRule } from '@tenure/runtime'

import { added, PLACEHOLDER, type RulePart, without } from './rules.ts'

/** An operator of the chart. */
export interface ChartOperator {
  /** Its key in the values. */
  readonly key: string
  readonly operator: Operator
  /** Settings that other values of the chart decide, or that have no meaning in a pod. */
  readonly managed: readonly string[]
  /** Rules for all namespaces and cluster-scoped kinds. */
  readonly cluster: readonly RulePart[]
  /** Rules in the namespace of the pods. */
  readonly namespace: readonly RulePart[]
  /** Rules in the one namespace that the operator manages. Default: none. */
  readonly watched?: readonly RulePart[]
}

const BY_OPERATOR = 'eq .Values.crds.installedBy "operator"'
const setting = (key: string, name: string): string => `.Values.${key}.settings.${name}`
/** A switch that is on unless the values turn it off. */
const unlessOff = (key: string, name: string): string => `ne (toString ${setting(key, name)}) "false"`
const withTokens = (key: string): string => `ne (toString ${setting(key, 'auth')}) "none"`

/** The chart creates these objects, so that they are removed with it; the operators fill them. */
const FILLED = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations', 'secrets', 'leases']
export const filling = (rules: Parameters<typeof without>[0]) =>
  FILLED.reduce((left, resource) => without(left, 'create', resource), rules)

const COMMON = ['enableLeaderElection', 'leaderElectionNamespace', 'podName', 'logLevel', 'logFormat']
const WEBHOOKS = ['webhookPort', 'webhookServiceName', 'webhookServiceNamespace', 'webhookUrl', 'webhookSecret']

/** The dashboard listens on the loopback address of the pod, so it needs no TLS. */
const DASHBOARD = ['dashboardAddr', 'tlsCertFile', 'tlsKeyFile']

const bare = { oneNamespace: true, installDefinitions: false, tokens: false, webhooks: false } as const
const tokenRules = added(clusterRules({ ...bare, tokens: true }), clusterRules(bare))

const bareLeases = { installDefinitions: false, dedicated: false } as const
const leases = (options: Parameters<typeof leaseOperatorRules>[0]) =>
  added(leaseOperatorRules({ ...bareLeases, ...options }), leaseOperatorRules(bareLeases))

/** The operators, in the order of the values. */
export const chartOperators: readonly ChartOperator[] = [
  {
    key: 'applications',
    operator: applications,
    managed: [...COMMON, ...WEBHOOKS, 'installDefinitions', 'port', 'host', 'tlsCertFile', 'tlsKeyFile'],
    cluster: [
      { rules: clusterRules(bare) },
      { when: `not ${setting('applications', 'namespace')}`, rules: workloadRules() },
      {
        when: BY_OPERATOR,
        rules: added(clusterRules({ ...bare, installDefinitions: true }), clusterRules(bare)),
      },
      {
        when: unlessOff('applications', 'webhooks'),
        rules: filling(added(clusterRules({ ...bare, webhooks: true }), clusterRules(bare))),
      },
      { when: withTokens('applications'), rules: tokenRules },
      {
        when: setting('applications', 'createNamespaces'),
        rules: added(clusterRules({ ...bare, createNamespaces: true }), clusterRules(bare)),
      },
    ],
    namespace: [
      { rules: filling(namespaceRules({ webhooks: false })) },
      {
        when: unlessOff('applications', 'webhooks'),
        rules: filling(added(namespaceRules(), namespaceRules({ webhooks: false }))),
      },
    ],
    watched: [{ rules: workloadRules() }],
  },
  {
    key: 'leaseControllers',
    operator: leaseControllers,
    managed: [
      ...COMMON,
      ...WEBHOOKS,
      'installDefinitions',
      'metricsBindAddress',
      'healthProbeBindAddress',
      ...DASHBOARD,
      'cleanupImage',
      'leaseControllerImage',
      'leaseControllerNamespace',
    ],
    cluster: [
      { rules: leaseOperatorRules(bareLeases) },
      { when: BY_OPERATOR, rules: leases({ installDefinitions: true }) },
      { when: setting('leaseControllers', 'createDefaultLeaseControllers'), rules: leases({ createDefaults: true }) },
      {
        when: `ne (toString ${setting('leaseControllers', 'leaseControllerMode')}) "shared"`,
        rules: leases({ dedicated: true }),
      },
      ...sharedParts(),
      { when: setting('leaseControllers', 'leaseAdmission'), rules: filling(leaseAdmissionRules.cluster) },
    ],
    namespace: [{ when: setting('leaseControllers', 'leaseAdmission'), rules: filling(leaseAdmissionRules.home) }],
  },
  {
    key: 'claims',
    operator: claims,
    managed: [
      ...COMMON,
      'templatePath',
      'valuesPath',
      'apiAddr',
      'tlsCertFile',
      'tlsKeyFile',
      'metricsBindAddress',
      'healthProbeBindAddress',
      'dashboardAddr',
    ],
    cluster: [{ when: withTokens('claims'), rules: tokenRules }],
    namespace: [],
    watched: [
      { rules: filling(claimRules({ kinds: [] })) },
      {
        when: '.Values.claims.rbac.secrets',
        rules: added(claimRules({ kinds: [], secrets: true }), claimRules({ kinds: [] })),
      },
    ],
  },
  {
    key: 'databases',
    operator: databases,
    managed: [
      ...COMMON,
      'dbHost',
      'dbPort',
      'dbUser',
      'dbPassword',
      'dbName',
      'dbSslMode',
      'inCluster',
      'enableMetrics',
      'metricsPort',
      'enableHealthCheck',
      'healthCheckPort',
      ...DASHBOARD,
    ],
    cluster: [{ rules: databasesRbac.cluster }],
    namespace: [{ rules: filling(databasesRbac.namespace ?? []) }],
  },
]

function isItem({ apiGroups }: PolicyRule): boolean {
  return apiGroups?.includes(PLACEHOLDER.group) ?? false
}

/** The rules for the kinds whose leases the operator manages itself, and what it needs besides. */
function sharedParts(): readonly RulePart[] {
  const each = '.Values.leaseControllers.sharedKinds'
  const rules = leases({ shared: [PLACEHOLDER] })
  return [
    { each, rules: rules.filter(isItem) },
    { when: each, rules: rules.filter((rule) => !isItem(rule)) },
  ]
}
