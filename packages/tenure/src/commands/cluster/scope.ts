import { asError, LabelMatcher } from '@tenure/kube'
import type { ClusterContext, ClusterOptions } from './context.ts'
import { argumentError } from '../../cli/usage-error.ts'

/** The namespace that a command shows; undefined: all of them. */
export function namespaceOf(
  { config }: Pick<ClusterContext, 'config'>,
  { allNamespaces = false, namespace }: ClusterOptions,
): string | undefined {
  if (allNamespaces && namespace !== undefined) throw argumentError('-n and -A exclude each other.')
  return allNamespaces ? undefined : (namespace ?? config.namespace)
}

/** Throws for a selector that the API server would refuse. */
export function checkSelector(selector: string | undefined): void {
  try {
    LabelMatcher.parse(selector ?? '')
  } catch (error) {
    throw argumentError(`-l is not a label selector, such as app=web: ${asError(error).message}`, error)
  }
}
