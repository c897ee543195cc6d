import type { PolicyRule } from '@tenure/runtime'

/**
 * The rules for the namespace of the operator, besides those for the kinds of its template: claims and their Secrets, Events, and the
 * Lease of its election. Kinds of the template need create, get, list and watch; the garbage collector deletes them.
 */
export function claimRules(): readonly PolicyRule[] {
  return [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    // Of the default template.
    { apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list', 'watch', 'create'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] },
  ]
}
