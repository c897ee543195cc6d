import { builtInSchema, resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import { StaticCatalog } from '../static-catalog.ts'
import type { ResourceCatalog, ResourceDefinition, Strategy } from '../types.ts'

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

interface Brief {
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly plural?: string
  readonly namespaced?: boolean
  readonly hasStatus?: boolean
  readonly scale?: ResourceDefinition['scale']
  readonly strategy?: Strategy
  readonly schema?: ResourceDefinition['schema']
  readonly isBuiltIn?: boolean
}

/** A definition from the few parts that a test cares about. */
export function define(brief: Brief): ResourceDefinition {
  const { group = '', version = 'v1', kind } = brief
  const plural = brief.plural ?? `${kind.toLowerCase()}s`
  const isBuiltIn = brief.isBuiltIn ?? true
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: brief.namespaced ?? true,
    verbs: VERBS,
    schema: brief.schema ?? (isBuiltIn ? builtInSchema(group, version, kind) : undefined),
    resolve: resolveBuiltIn,
    hasStatus: brief.hasStatus ?? false,
    scale: brief.scale,
    strategy: brief.strategy ?? {},
    printer: {
      columns: [{ name: 'Name', type: 'string', format: 'name' }],
      cells: (object) => [object.metadata?.name ?? ''],
    },
    isBuiltIn,
    bucket: group ? `${plural}.${group}` : plural,
  }
}

/** Kinds that together use every feature of the registry. */
export const KINDS = {
  configMap: define({ kind: 'ConfigMap', strategy: { generation: false } }),
  namespace: define({
    kind: 'Namespace',
    namespaced: false,
    hasStatus: true,
    strategy: {
      generation: false,
      returnsDeletedObject: true,
      prepareForCreate: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
    },
  }),
  pod: define({
    kind: 'Pod',
    hasStatus: true,
    strategy: {
      returnsDeletedObject: true,
      gracePeriod: ({ spec }: { readonly spec?: { readonly nodeName?: string } }) => (spec?.nodeName ? 30 : 0),
      selectableFields: {
        'spec.nodeName': ({ spec }: { readonly spec?: { readonly nodeName?: string } }) => spec?.nodeName ?? '',
      },
    } as Strategy,
  }),
  deployment: define({
    group: 'apps',
    kind: 'Deployment',
    hasStatus: true,
    scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', labelSelector: '.spec.selector' },
  }),
  lease: define({
    group: 'coordination.k8s.io',
    kind: 'Lease',
    strategy: { generation: false, allowsCreateOnUpdate: true },
  }),
  budget: define({ group: 'policy', kind: 'PodDisruptionBudget', hasStatus: true }),
  serviceAccount: define({ kind: 'ServiceAccount', strategy: { generation: false } }),
  clusterRole: define({
    group: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    namespaced: false,
    strategy: { generation: false },
  }),
  clusterRoleBinding: define({
    group: 'rbac.authorization.k8s.io',
    kind: 'ClusterRoleBinding',
    namespaced: false,
    strategy: { generation: false },
  }),
  widget: define({
    group: 'example.dev',
    kind: 'Widget',
    isBuiltIn: false,
    hasStatus: true,
    schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { size: { type: 'integer', default: 3, minimum: 0 } } },
        status: { type: 'object', preserveUnknown: true },
      },
    },
  }),
} as const

export function catalogOf(definitions: readonly ResourceDefinition[] = Object.values(KINDS)): ResourceCatalog {
  return new StaticCatalog(definitions)
}
