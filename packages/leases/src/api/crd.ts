import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import { DEFINITION_VERSION } from '@tenure/runtime'
import { LEASE_CONTROLLER_GROUP } from './lease-controller.ts'

/** Increase with every change: an older definition on the cluster is then upgraded. */
const CRD_VERSION = '4'

type Schema = NonNullable<
  NonNullable<CustomResourceDefinition['spec']['versions'][number]['schema']>['openAPIV3Schema']
>

const DNS_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
const DNS_NAME = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$'

/**
 * A string or an object. A structural schema has no such union, so the type is left open. String rules ignore objects,
 * and object rules ignore strings.
 */
const kindName: Schema = {
  description:
    'The kind whose objects are leased: its name, such as Deployment, or {singular: Deployment, plural: deployments}.',
  'x-kubernetes-preserve-unknown-fields': true,
  minLength: 1,
  maxLength: 63,
  pattern: '^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$',
  anyOf: [{ required: ['singular'] }, { required: ['plural'] }],
}

const patterns = (what: string): Schema => ({
  type: 'array',
  maxItems: 100,
  'x-kubernetes-list-type': 'set',
  // A comma separates the patterns on the command line of a dedicated controller.
  items: { type: 'string', minLength: 1, maxLength: 253, pattern: '^[^,\\s]+$' },
  description: `${what} that cleanup jobs may use; * stands for any text.`,
})

/** A boolean or an object; its type is left open as that of `kindName`. */
const cleanup: Schema = {
  description:
    'Grant the rights that cleanup jobs need: create Jobs, read ConfigMaps and ServiceAccounts. true, or an object that lists what jobs may use beyond the default image and the ServiceAccount default. Default false.',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    images: patterns('Images'),
    serviceAccounts: patterns('Names of ServiceAccounts'),
    secrets: patterns('Names of Secrets'),
  },
}

const spec: Schema = {
  type: 'object',
  description: 'The kind, and how its leases are managed.',
  required: ['kind'],
  properties: {
    group: {
      type: 'string',
      maxLength: 253,
      pattern: DNS_NAME,
      description: 'Its API group. Default: the core group, or the only group that has the kind.',
    },
    version: {
      type: 'string',
      maxLength: 63,
      pattern: DNS_LABEL,
      description: 'Its version. Default: the one that the API server prefers.',
    },
    kind: kindName,
    mode: {
      type: 'string',
      enum: ['dedicated', 'shared'],
      description:
        'Run the controller in its own Deployment, or inside the operator. Default: the setting of the operator.',
    },
    optIn: {
      type: 'object',
      required: ['key'],
      description: 'Only namespaces with this label are managed. Default: all.',
      properties: {
        key: { type: 'string', minLength: 1, maxLength: 317, description: 'Key of the label.' },
        value: { type: 'string', maxLength: 63, description: 'Value of the label. Default: any value.' },
      },
    },
    leaderElection: { type: 'boolean', description: 'Elect one replica as leader. Default true.' },
    replicas: { type: 'integer', format: 'int32', minimum: 0, description: 'Replicas of the Deployment. Default 1.' },
    image: { type: 'string', minLength: 1, description: "Image of the Deployment. Default: the operator's." },
    cleanup,
    cleanupConfigMaps: {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'string', minLength: 1, maxLength: 253 },
      description: 'The names of the ConfigMaps that may be read for cleanup jobs. Default: any.',
    },
    dryRun: { type: 'boolean', description: 'Report what would be deleted, and delete nothing. Default false.' },
    suspend: { type: 'boolean', description: 'Stop managing leases of this kind. Default false.' },
  },
}

const condition: Schema = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string', description: 'What the condition is about, such as Ready.' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'], description: 'Whether it applies.' },
    reason: { type: 'string', description: 'The cause of the status in one word, for programs.' },
    message: { type: 'string', description: 'The cause of the status, for people.' },
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status last changed.' },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'Generation of the LeaseController that the condition describes.',
    },
  },
}

const status: Schema = {
  type: 'object',
  description: 'State of the controller, written by the operator.',
  properties: {
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'Generation of the LeaseController that the status describes.',
    },
    conditions: {
      type: 'array',
      description: 'Ready: the controller manages leases. Its reason and message say why not.',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    mode: { type: 'string', description: 'How the controller runs: dedicated or shared.' },
    resource: {
      type: 'object',
      description: 'The kind as discovery names it.',
      properties: {
        group: { type: 'string', description: 'API group; empty for the core group.' },
        version: { type: 'string', description: 'Version that the controller watches.' },
        kind: { type: 'string', description: 'Kind of the objects.' },
        plural: { type: 'string', description: 'Name of the resource in URLs.' },
        namespaced: { type: 'boolean', description: 'Whether the objects are in namespaces.' },
      },
    },
    target: { type: 'string', description: 'Kind, version and group whose leases are managed.' },
    note: { type: 'string', description: 'How the spec was interpreted, if not literally, and why.' },
    activeLeases: { type: 'integer', format: 'int64', description: 'Number of objects with a lease.' },
    nextExpiry: { type: 'string', format: 'date-time', description: 'When the next lease ends.' },
  },
}

const READY = '.status.conditions[?(@.type=="Ready")]'

/** The CRD of LeaseController. The manifest in deploy/crds is generated from it. */
export const leaseControllerDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `leasecontrollers.${LEASE_CONTROLLER_GROUP}`, annotations: { [DEFINITION_VERSION]: CRD_VERSION } },
  spec: {
    group: LEASE_CONTROLLER_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'LeaseController',
      listKind: 'LeaseControllerList',
      plural: 'leasecontrollers',
      singular: 'leasecontroller',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Target', type: 'string', jsonPath: '.status.target' },
          { name: 'Mode', type: 'string', jsonPath: '.status.mode' },
          { name: 'Ready', type: 'string', jsonPath: `${READY}.status` },
          { name: 'Reason', type: 'string', jsonPath: `${READY}.reason` },
          { name: 'Leases', type: 'integer', jsonPath: '.status.activeLeases' },
          { name: 'Next expiry', type: 'string', jsonPath: '.status.nextExpiry' },
          { name: 'Message', type: 'string', jsonPath: `${READY}.message`, priority: 1 },
          { name: 'Note', type: 'string', jsonPath: '.status.note', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Manages the leases (TTL annotations) of all objects of a kind.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec,
              status,
            },
          },
        },
      },
    ],
  },
}
