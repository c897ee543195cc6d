import type { KubeObject } from '@tenure/kube'

/**
 * The annotation of a CustomResourceDefinition that says which edition of it this is: a whole number that its authors
 * raise with every change. Without it a definition counts as edition 0.
 */
export const DEFINITION_VERSION = 'tenure.dev/definition-version'

export function definitionVersion(definition: KubeObject): number {
  const text = definition.metadata?.annotations?.[DEFINITION_VERSION] ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}
