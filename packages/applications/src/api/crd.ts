import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import { DEFINITION_VERSION } from '@tenure/runtime'
import { Application, GROUP, VERSION } from './index.ts'
import { DNS_LABEL, specSchema, statusSchema } from './crd-schema.ts'

/** Must grow with every change of the definition, so that an older operator does not downgrade it. */
const CRD_VERSION = 4

/** The CustomResourceDefinition of Application, as `kubectl apply` takes it. */
export const applicationDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${Application.plural}.${GROUP}`,
    annotations: { [DEFINITION_VERSION]: String(CRD_VERSION) },
  },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: {
      plural: Application.plural,
      singular: 'application',
      kind: Application.kind,
      listKind: 'ApplicationList',
      shortNames: ['app', 'apps'],
      categories: ['all'],
    },
    versions: [
      {
        name: VERSION,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A workload: pods of one image and the objects they need.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: {
                type: 'object',
                // The name becomes a label value and the name of a Service.
                properties: { name: { type: 'string', maxLength: 63, pattern: DNS_LABEL } },
              },
              spec: specSchema,
              status: statusSchema,
            },
          },
        },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.labelSelector',
          },
        },
        additionalPrinterColumns: [
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
}
