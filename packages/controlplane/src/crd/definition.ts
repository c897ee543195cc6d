import { createHash } from 'node:crypto'
import type { KubeObject, Stored } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { hasCondition } from '../model/conditions.ts'
import { specOf, versionsOf } from '../model/custom-resource-definition.ts'
import { asJsonObjects } from '../model/json.ts'
import { valueAt } from '../registry/dotted-path.ts'
import type { ResourceDefinition, ScalePaths, Strategy } from '../registry/types.ts'
import { hasRules } from '../schema/cel/has-rules.ts'
import { blockingError, validateRules } from '../schema/cel/validate.ts'
import { schemaFromOpenApi } from '../schema/openapi/convert.ts'
import type { FieldError, Schema } from '../schema/types.ts'
import { noReferences } from '../schema/validation/no-references.ts'
import { process } from '../schema/validation/process.ts'
import { findAll, parseJsonPath } from './json-path.ts'
import { customPrinter } from './printer.ts'
import type { SchemaEpoch, Schemas } from './stored-object-reader.ts'
import { storedObjectReader } from './stored-object-reader.ts'

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
/** The verbs in discovery while the definition is being deleted. */
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch']

/** Returns a resource for each served version of a CustomResourceDefinition. */
export function definitionsOf(crd: JsonObject, epoch: SchemaEpoch): readonly ResourceDefinition[] {
  if (!hasCondition(crd, 'Established')) return []
  const schemas = new Map(versionsOf(crd).map((version) => [asString(version['name']), schemaOf(version)]))
  return versionsOf(crd)
    .filter(({ served }) => served === true)
    .map((version) => define(crd, version, schemas, epoch))
}

function define(crd: JsonObject, version: JsonObject, schemas: Schemas, epoch: SchemaEpoch): ResourceDefinition {
  const spec = specOf(crd)
  const group = asString(spec['group'])
  const names = asJsonObject(valueAtPath(crd, 'status', 'acceptedNames'))
  const [plural, kind] = [asString(names['plural']), asString(names['kind'])]
  const hasStatus = isJsonObject(valueAtPath(version, 'subresources', 'status'))
  const isTerminating =
    hasCondition(crd, 'Terminating') || valueAtPath(crd, 'metadata', 'deletionTimestamp') !== undefined
  const name = asString(version['name'])
  const schema = schemas.get(name)
  return {
    group,
    version: name,
    kind,
    listKind: asString(names['listKind']) || `${kind}List`,
    plural,
    singular: asString(names['singular']),
    shortNames: asArray(names['shortNames']).map(asString),
    categories: asArray(names['categories']).map(asString),
    namespaced: spec['scope'] === 'Namespaced',
    verbs: isTerminating ? TERMINATING_VERBS : VERBS,
    ...(version['deprecated'] === true && { deprecation: deprecationOf(version, group, kind) }),
    ...(isTerminating && { isTerminating }),
    schema,
    resolve: noReferences,
    hasStatus,
    scale: scaleOf(version),
    strategy: strategyOf(version, hasStatus, schema),
    printer: customPrinter(asJsonObjects(version['additionalPrinterColumns'])),
    isBuiltIn: false,
    bucket: `${plural}.${group}`,
    storageVersionHash: storageVersionHash(crd, group),
    storedReader: storedObjectReader(name, schemas, epoch),
  }
}

/** None if the stored version is not served, as in kube-apiserver. */
function storageVersionHash(crd: JsonObject, group: string): string | undefined {
  const stored = versionsOf(crd).find(({ storage, served }) => storage === true && served === true)
  if (!stored) return undefined
  const name = `${group}/${asString(stored['name'])}/${asString(valueAtPath(specOf(crd), 'names', 'kind'))}`
  return createHash('sha256').update(name).digest().subarray(0, 8).toString('base64')
}

const deprecationOf = ({ name, deprecationWarning }: JsonObject, group: string, kind: string): string =>
  asString(deprecationWarning) || `${group}/${asString(name)} ${kind} is deprecated`

function schemaOf(version: JsonObject): Schema | undefined {
  const source = valueAtPath(version, 'schema', 'openAPIV3Schema')
  if (!isJsonObject(source)) return undefined
  return schemaFromOpenApi(source)
}

function scaleOf(version: JsonObject): ScalePaths | undefined {
  const scale = valueAtPath(version, 'subresources', 'scale')
  if (!isJsonObject(scale)) return undefined
  const labelSelector = asString(scale['labelSelectorPath'])
  return {
    specReplicas: asString(scale['specReplicasPath']),
    statusReplicas: asString(scale['statusReplicasPath']),
    ...(labelSelector && { labelSelector }),
  }
}

function strategyOf(version: JsonObject, hasStatus: boolean, schema: Schema | undefined): Strategy {
  const selectable = asJsonObjects(version['selectableFields']).map(({ jsonPath }) => asString(jsonPath))
  const scale = scaleOf(version)
  const rules = schema && hasRules(schema) ? schema : undefined
  const check = (object: KubeObject, old: KubeObject | undefined): FieldError[] => [
    ...(scale ? checkReplicas(scale, object) : []),
    ...(rules ? checkObject(rules, object, old) : []),
  ]
  return {
    ...(selectable.length > 0 && { selectableFields: Object.fromEntries(selectable.map(selectableField)) }),
    // Without a status subresource, changes of status count in the generation.
    ...(!hasStatus && { generation: withoutMetadata }),
    ...((scale || rules) && {
      validate: (object: KubeObject) => check(object, undefined),
      validateUpdate: (object: KubeObject, old: Stored<KubeObject>) => check(object, old),
    }),
  }
}

const MAX_INT32 = 2_147_483_647

/** Validates that replicas are a non-negative int32, whatever the schema says. */
function checkReplicas({ specReplicas, statusReplicas }: ScalePaths, object: KubeObject): FieldError[] {
  return [specReplicas, statusReplicas].flatMap((field) => {
    const replicas = valueAt(object, field)
    if (typeof replicas !== 'number' || (replicas >= 0 && replicas <= MAX_INT32)) return []
    const why = replicas < 0 ? 'should be a non-negative integer' : `should be less than or equal to ${MAX_INT32}`
    return [{ reason: 'FieldValueInvalid', field, message: `Invalid value: ${replicas}: ${why}` }]
  })
}

/** Runs the CEL rules of the schema, unless schema errors block them. */
function checkObject(schema: Schema, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { errors } = process(schema, noReferences, object, { default: false, prune: false, ...(old && { old }) })
  // A missing name blocks the rules as well.
  const nameless: readonly FieldError[] = object.metadata?.name
    ? []
    : [{ reason: 'FieldValueRequired', field: 'metadata.name', message: '' }]
  const blocking = blockingError([...errors, ...nameless])
  return blocking ? [blocking] : validateRules(schema, object, { old })
}

function selectableField(jsonPath: string): [string, (object: KubeObject) => string] {
  const path = parseJsonPath(jsonPath) ?? []
  return [jsonPath.replace(/^\./, ''), (object) => textOf(findAll(path, object)[0])]
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

function withoutMetadata(object: KubeObject): unknown {
  const { metadata: _, apiVersion: __, kind: ___, ...rest } = object
  return rest
}
