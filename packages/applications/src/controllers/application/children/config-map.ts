import type { ConfigMap } from '@tenure/kube/kinds'
import type { ApplicationSpec } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'
import { hasEntries } from './pod-template.ts'

/** Environment variables of the pods. */
export function configMapFor(name: string, { config }: ApplicationSpec): ConfigMap | undefined {
  if (!hasEntries(config) || !config) return undefined
  return { metadata: { name: childNames(name).config, labels: labelsOf(name) }, data: config }
}
