import type { KubeObject } from '@tenure/kube'
import { parseFieldSelector } from './field-selector.ts'
import type { FieldSelection } from './field-selector.ts'
import { parseLabelSelector } from './label-selector.ts'
import type { RequestOptions } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

export interface ObjectSelection {
  /** Undefined: all objects. */
  readonly matches: ((object: KubeObject) => boolean) | undefined
  readonly fields: FieldSelection
}

/** The objects that a list or watch selects by labels and fields. */
export function parseSelection(options: RequestOptions, definition: ResourceDefinition): ObjectSelection {
  const labels = parseLabelSelector(options.labelSelector ?? '')
  const fields = parseFieldSelector(options.fieldSelector ?? '', definition)
  const { test } = fields
  if (!labels) return { matches: test, fields }
  const matches = test
    ? (object: KubeObject) => labels(object.metadata?.labels) && test(object)
    : (object: KubeObject) => labels(object.metadata?.labels)
  return { matches, fields }
}
