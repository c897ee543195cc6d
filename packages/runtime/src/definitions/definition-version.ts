import type { KubeObject } from '@tenure/kube'

/**
 * Annotation with the version of a CustomResourceDefinition: an integer that its authors increment with every change.
 * Without it the version is 0.
 */
export const DEFINITION_VERSION = 'tenure.dev/definition-version'

export function definitionVersion(definition: KubeObject): number {
  const text = definition.metadata?.annotations?.[DEFINITION_VERSION] ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}
