import { keyOf } from '@tenure/kube'
import type { Action } from './types.ts'

/** An action in a few words, for logs: `apply Deployment default/web`. */
export function describeAction(action: Action): string {
  switch (action.type) {
    case 'apply':
    case 'create': {
      const { name, generateName, namespace } = action.object.metadata ?? {}
      return `${action.type} ${action.kind.kind} ${keyOf({ name: name ?? `${generateName ?? ''}…`, namespace })}`
    }
    case 'patch':
    case 'remove':
      return `${action.type} ${action.kind.kind} ${keyOf(action.ref)}`
    case 'event':
      return `event ${action.reason}`
    case 'call':
      return `call ${action.name}`
    case 'finalizer':
      return `${action.present ? 'add' : 'remove'} finalizer ${action.name}`
    default:
      return action.type
  }
}
