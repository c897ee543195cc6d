import type { Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import { ClusterRole, type PolicyRule } from '@tenure/kube/kinds'
import { controller, watch } from '@tenure/runtime'
import { matcherOf } from '../../kinds/common/selectors.ts'
import { builtIn } from '../component.ts'

const FIELD_MANAGER = 'clusterrole-aggregation-controller'

/** Gathers the rules of a ClusterRole with an aggregation rule from the ClusterRoles that it selects. */
export const roleAggregation = builtIn('clusterrole-aggregation', () =>
  controller(ClusterRole, {
    name: 'clusterrole-aggregation',
    watches: [
      watch(ClusterRole, (_, roles) =>
        roles.list().flatMap(({ aggregationRule, metadata }) => (aggregationRule ? [metadata] : [])),
      ),
    ],
    // Not a plan: the rules have a field manager of their own, so that it is the one that a conflict names.
    reconcile: async ({ api, list, object: role, signal }) => {
      if (!role.aggregationRule) return
      const rules = aggregatedRules(role, list(ClusterRole))
      if (isDeepEqual(rules, role.rules ?? [])) return
      const { apiVersion, kind } = role
      const applied = { apiVersion, kind, metadata: { name: role.metadata.name }, rules }
      await api.apply(ClusterRole, applied, { fieldManager: FIELD_MANAGER, force: true, signal })
    },
  }),
)

/** The different rules of the selected roles: selector by selector, and by name. */
export function aggregatedRules(
  { aggregationRule, metadata }: Stored<ClusterRole>,
  roles: readonly Stored<ClusterRole>[],
): readonly PolicyRule[] {
  const others = roles
    .filter((role) => role.metadata.name !== metadata.name)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const rules = new Map<string, PolicyRule>()
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    const isSelected = matcherOf(selector)
    for (const role of others) {
      if (!isSelected?.(role.metadata.labels)) continue
      for (const rule of role.rules ?? []) {
        const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule
        const key = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs])
        if (!rules.has(key)) rules.set(key, rule)
      }
    }
  }
  return [...rules.values()]
}
