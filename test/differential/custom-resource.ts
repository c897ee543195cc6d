/** The custom resource of the corpus, whose schema uses every feature. */
import type { Json, JsonObject } from './case.ts'

const spec: JsonObject = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 100 },
    replicas: { type: 'integer', default: 1 },
    mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
    code: { type: 'string', pattern: '^[a-z]+$', maxLength: 8, minLength: 2 },
    ratio: { type: 'number', multipleOf: 0.5, exclusiveMinimum: true, minimum: 0 },
    enabled: { type: 'boolean' },
    when: { type: 'string', format: 'date-time' },
    amount: { 'x-kubernetes-int-or-string': true },
    maybe: { type: 'string', nullable: true },
    immutable: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'may not change' }] },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', maxItems: 4, items: { type: 'string', maxLength: 10 } },
    plain: { type: 'array', uniqueItems: false, items: { type: 'integer' } },
    counts: { type: 'object', maxProperties: 3, additionalProperties: { type: 'integer' } },
    atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    ports: {
      type: 'array',
      maxItems: 8,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer' },
          protocol: { type: 'string', default: 'TCP', maxLength: 8 },
          note: { type: 'string' },
        },
      },
    },
    nested: {
      type: 'object',
      default: {},
      properties: {
        depth: { type: 'integer', default: 7 },
        inner: { type: 'object', properties: { word: { type: 'string', default: 'hello' } } },
      },
    },
    oneOf: {
      type: 'object',
      properties: { left: { type: 'string' }, right: { type: 'string' } },
      oneOf: [{ required: ['left'] }, { required: ['right'] }],
    },
  },
  'x-kubernetes-validations': [
    { rule: '!has(self.code) || self.code != "forbidden"', message: 'code is forbidden', fieldPath: '.code' },
    {
      rule: 'self.replicas <= self.size',
      messageExpression: 'self.size < 10 ? "replicas exceed a small size" : "replicas exceed the size"',
      reason: 'FieldValueForbidden',
    },
    { rule: '!has(self.ports) || self.ports.all(p, p.port < 1000)' },
  ],
}

const status: JsonObject = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    selector: { type: 'string' },
    phase: { type: 'string', enum: ['Ready', 'Failed'] },
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: { type: { type: 'string' }, status: { type: 'string' } },
      },
    },
  },
}

interface DefinitionOptions {
  readonly plural: string
  readonly kind: string
  /** Default: `{group}`. */
  readonly group?: string
  readonly scope?: string
  readonly versions?: Json
  readonly names?: JsonObject
}

export const definition = ({
  plural,
  kind,
  group = '{group}',
  scope,
  versions,
  names,
}: DefinitionOptions): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: scope ?? 'Namespaced',
    names: { plural, kind, ...names },
    versions: versions ?? [version('v1', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true })],
  },
})

export const version = (name: string, openAPIV3Schema: Json, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
  ...more,
})

export const widgets = definition({
  plural: 'widgets',
  kind: 'Widget',
  names: { singular: 'widget', shortNames: ['wd'], categories: ['all', 'things'], listKind: 'WidgetList' },
  versions: [
    version(
      'v1',
      { type: 'object', description: 'A widget.', properties: { spec, status } },
      {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        selectableFields: [{ jsonPath: '.spec.mode' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How large it is.' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ),
    version('v1beta1', { type: 'object', properties: { spec, status } }, { storage: false }),
  ],
})

/** Without a status subresource, status is an ordinary field. */
export const notes = definition({
  plural: 'notes',
  kind: 'Note',
  versions: [
    version('v1', {
      type: 'object',
      properties: {
        text: { type: 'string' },
        status: { type: 'string' },
        list: { type: 'array', items: { type: 'string' } },
      },
    }),
  ],
})
