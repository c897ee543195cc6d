import type { KubeObject } from '@tenure/kube'
import type { Admission, AdmissionAttributes } from '../registry/request.ts'
import type { ResourceDefinition } from '../registry/types.ts'

/** Several plugins as one: each is asked about what concerns it, in this order, and sees what those before it made. */
export function inTurn(...plugins: readonly Admission[]): Admission {
  const concerned = (
    operation: AdmissionAttributes['operation'],
    definition: ResourceDefinition,
    subresource: string,
  ): readonly Admission[] => plugins.filter((plugin) => plugin.concerns?.(operation, definition, subresource) ?? true)
  return {
    concerns: (operation, definition, subresource) =>
      plugins.some((plugin) => plugin.concerns?.(operation, definition, subresource) ?? true),
    async mutate(attributes, warn): Promise<KubeObject | undefined> {
      const { operation, definition, subresource } = attributes
      let { object } = attributes
      for (const plugin of concerned(operation, definition, subresource)) {
        object = await plugin.mutate({ ...attributes, object }, warn)
      }
      return object
    },
    async validate(attributes, warn): Promise<void> {
      const { operation, definition, subresource } = attributes
      for (const plugin of concerned(operation, definition, subresource)) await plugin.validate(attributes, warn)
    },
  }
}
