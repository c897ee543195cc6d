import type { KubeObject } from '@tenure/kube'
import type { Admission, AdmissionAttributes } from '../registry/request.ts'
import type { ResourceDefinition } from '../registry/types.ts'

/** Runs several plugins as one, in this order. Each plugin is called only for requests that concern it and receives the object that the previous one returned. */
export function admissionChain(...plugins: readonly Admission[]): Admission {
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
