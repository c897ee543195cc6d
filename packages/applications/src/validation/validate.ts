import type { JSONSchemaProps } from '@tenure/kube/kinds'
import { annotationKey, isJsonObject, type JsonObject, labelValue, qualifiedName } from '@tenure/kube/model'
import { Application, GROUP, VERSION } from '../api/index.ts'
import { applicationDefinition } from '../api/crd.ts'
import { imagePolicyViolation, isBlank, type ImagePolicy } from '../admission/image-policy.ts'
import { MAX_DETAILS, NAME_RULE, childPath, detail, own, typeName, violations } from './schema.ts'
import type { ValidationDetail } from './schema.ts'

export type { ValidationDetail } from './schema.ts'
export { detailsOf } from './api-status.ts'

export type Validation =
  | { readonly ok: true; readonly application: Application }
  | { readonly ok: false; readonly details: readonly ValidationDetail[] }

export interface ValidationOptions {
  /** Name and namespace of the URL. They fill in missing ones and must equal present ones. Default: none. */
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  /** Whether the body is to be created, so that it has no resourceVersion yet. Default false. */
  readonly isNew?: boolean | undefined
  /** Applied to the image. Default: every image passes. */
  readonly policy?: ImagePolicy | undefined
}

const API_VERSION = `${GROUP}/${VERSION}`

/** Schema of the CustomResourceDefinition. */
const schema = applicationDefinition.spec.versions.find(({ name }) => name === VERSION)?.schema?.openAPIV3Schema ?? {}
const texts: JSONSchemaProps = { type: 'object', additionalProperties: { type: 'string' } }
/** The writable part of metav1.ObjectMeta, which the CustomResourceDefinition leaves out. */
const metadataSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    generateName: { type: 'string', maxLength: 253 },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: { type: 'string' } },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          name: { type: 'string' },
          uid: { type: 'string' },
        },
      },
    },
    ...schema.properties?.['metadata']?.properties,
  },
}
/** Without metadata, which has its own schema, and without status, which only the operator writes. */
const bodySchema: JSONSchemaProps = {
  ...schema,
  properties: {
    apiVersion: { type: 'string', enum: [API_VERSION] },
    kind: { type: 'string', enum: [Application.kind] },
    ...without(schema.properties ?? {}, ['apiVersion', 'kind', 'metadata', 'status']),
  },
}

/**
 * Validates a body of any shape against the CRD's schema and Kubernetes' rules for metadata. The result has the URL's
 * name and namespace and no status.
 */
export function validateApplication(body: unknown, options: ValidationOptions = {}): Validation {
  if (!isJsonObject(body)) return { ok: false, details: [detail('body', `Expected object, got ${typeName(body)}`)] }
  const metadata = own(body, 'metadata') ?? {}
  const details = [
    ...metadataDetails(metadata, options),
    ...violations(bodySchema, body, ''),
    ...imageDetails(own(body, 'spec'), options.policy),
  ]
  if (details.length > 0) return { ok: false, details: details.slice(0, MAX_DETAILS) }
  const application = {
    ...without(body, ['status']),
    apiVersion: API_VERSION,
    kind: Application.kind,
    metadata: {
      ...(isJsonObject(metadata) && metadata),
      ...(options.name !== undefined && { name: options.name }),
      ...(options.namespace !== undefined && { namespace: options.namespace }),
    },
  }
  // The only cast from a body to an Application: the schema has checked every field of the type.
  return { ok: true, application: application as unknown as Application }
}

function metadataDetails(metadata: unknown, options: ValidationOptions): readonly ValidationDetail[] {
  if (!isJsonObject(metadata)) return [detail('metadata', `Expected object, got ${typeName(metadata)}`, metadata)]
  const name = own(metadata, 'name') ?? options.name
  const named = name === undefined ? metadata : { ...metadata, name }
  const found = violations(metadataSchema, named, 'metadata').map((each) =>
    each.field === 'metadata.name' && !each.message.startsWith('Expected') ? { ...each, message: NAME_RULE } : each,
  )
  const isNamed = name !== undefined && name !== ''
  return [
    ...(isNamed || own(metadata, 'generateName') ? [] : [detail('metadata.name', 'Resource name is required')]),
    ...found.filter(({ field }) => isNamed || field !== 'metadata.name'),
    ...mismatch(metadata, 'name', options.name),
    ...mismatch(metadata, 'namespace', options.namespace),
    ...(options.isNew ? versionDetails(own(metadata, 'resourceVersion')) : []),
    ...labelDetails(own(metadata, 'labels'), own(metadata, 'annotations')),
  ]
}

function mismatch(
  metadata: JsonObject,
  key: 'name' | 'namespace',
  wanted: string | undefined,
): readonly ValidationDetail[] {
  const given = own(metadata, key)
  if (wanted === undefined || typeof given !== 'string' || given === '' || given === wanted) return []
  return [detail(`metadata.${key}`, `Value must equal the ${key} in the URL: ${wanted}`, given)]
}

function versionDetails(version: unknown): readonly ValidationDetail[] {
  if (typeof version !== 'string' || version === '') return []
  return [detail('metadata.resourceVersion', 'A resource that is to be created has no resourceVersion', version)]
}

function labelDetails(labels: unknown, annotations: unknown): readonly ValidationDetail[] {
  const details: ValidationDetail[] = []
  for (const [field, map, keyRule] of [
    ['metadata.labels', labels, qualifiedName],
    ['metadata.annotations', annotations, annotationKey],
  ] as const) {
    for (const [key, value] of isJsonObject(map) ? Object.entries(map) : []) {
      if (details.length >= MAX_DETAILS) return details
      if (keyRule(key).length > 0) {
        details.push(
          detail(
            childPath(field, key),
            'Name must have at most 63 letters, digits, "-", "_" and ".", and may have a DNS name and "/" before them',
          ),
        )
      } else if (map === labels && typeof value === 'string' && labelValue(value).length > 0) {
        details.push(
          detail(childPath(field, key), 'Value must have at most 63 letters, digits, "-", "_" and "."', value),
        )
      }
    }
  }
  return details
}

function imageDetails(spec: unknown, policy: ImagePolicy | undefined): readonly ValidationDetail[] {
  const image = isJsonObject(spec) ? own(spec, 'image') : undefined
  if (typeof image !== 'string' || image === '') return []
  if (isBlank(image)) return [detail('spec.image', 'Required field is missing', image)]
  if (!policy) return []
  const objection = imagePolicyViolation(image, policy)
  return objection === undefined ? [] : [detail('spec.image', objection, image)]
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))
}
