import type { Action } from '@tenure/runtime'
import type { Application } from '../../api/index.ts'

/** `ConfigMap shop-config, Deployment shop`. */
export function describeActions(actions: readonly Action<Application>[]): string {
  return actions
    .map((action) => {
      if (action.type === 'apply') return `${action.kind.kind} ${action.object.metadata?.name ?? ''}`
      return action.type === 'remove' ? `${action.kind.kind} ${action.ref.name}` : action.type
    })
    .join(', ')
}
