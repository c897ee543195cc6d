import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { hasCondition, withCondition } from '../../model/conditions.ts'
import { BUCKET, FINALIZER, namesOf, storageVersionOf } from '../../model/custom-resource-definition.ts'
import { filled, filledUnset, withField, withinField } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { validateNames } from './crd-names-validation.ts'
import { validateCrd } from './crd-validation.ts'
import { warningsForFormats } from './format-warnings.ts'

/** Kinds of apiextensions.k8s.io. */
export const API_EXTENSIONS: KindTable = {
  [BUCKET]: {
    columns: (crd) => [nameOf(crd), createdAt(crd)],
    rules: {
      defaults: (crd) =>
        withinField(withinField(crd, 'spec', defaultSpec), 'status', (status) => defaultStored(status, crd)),
      prepareForCreate: (crd) => {
        const storage = storageVersionOf(crd)
        const status = {
          conditions: null,
          acceptedNames: { plural: '', kind: '' },
          storedVersions: storage === undefined ? null : [storage],
        }
        return withField(crd, 'status', status)
      },
      // A version stays in storedVersions once objects may be stored in it.
      prepareForUpdate: (crd) => {
        const storage = storageVersionOf(crd)
        const stored = asArray(valueAtPath(crd, 'status', 'storedVersions'))
        if (storage === undefined || stored.includes(storage)) return crd
        return withinField(crd, 'status', (status) => withField(status, 'storedVersions', [...stored, storage]))
      },
      warnings: warningsForFormats,
      validate: (crd) => validateCrd(crd, undefined),
      // storedVersions is validated with the definition, not with its status.
      validateStatus: (crd) =>
        validateNames(asJsonObject(valueAtPath(crd, 'status', 'acceptedNames')), 'status.acceptedNames'),
      validateChange: (crd, old) => {
        const established = hasCondition(old, 'Established')
          ? [
              ...unchanged('spec.scope', valueAtPath(crd, 'spec', 'scope'), valueAtPath(old, 'spec', 'scope')),
              ...unchanged('spec.names.kind', namesOf(crd)['kind'], namesOf(old)['kind']),
            ]
          : []
        return [
          ...established,
          ...unchanged('spec.group', valueAtPath(crd, 'spec', 'group'), valueAtPath(old, 'spec', 'group')),
          ...unchanged('spec.names.plural', namesOf(crd)['plural'], namesOf(old)['plural']),
        ]
      },
      beginDeletion: (object) => {
        const crd = object as unknown as JsonObject
        const finalizers = object.metadata.finalizers ?? []
        const held = finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER]
        const marked = withCondition(
          crd,
          {
            type: 'Terminating',
            status: 'True',
            reason: 'InstanceDeletionPending',
            message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
          },
          object.metadata.deletionTimestamp ?? object.metadata.creationTimestamp,
        )
        return { ...marked, metadata: { ...object.metadata, finalizers: held } }
      },
      returnsDeletedObject: true,
    },
  },
}

/** Defaults `storedVersions` to the storage version. */
function defaultStored(status: JsonObject, crd: JsonObject): JsonObject {
  const storage = storageVersionOf(crd)
  if (storage === undefined || asArray(status['storedVersions']).length > 0) return status
  return withField(status, 'storedVersions', [storage])
}

function defaultSpec(given: JsonObject): JsonObject {
  const spec = withinField(given, 'names', (names) => {
    const kind = asString(names['kind'])
    const singular = filledUnset(names, { singular: kind.toLowerCase() })
    return kind ? filledUnset(singular, { listKind: `${kind}List` }) : singular
  })
  const conversion = filled(spec, { conversion: { strategy: 'None' } })
  return withinField(conversion, 'conversion', (value) =>
    withinField(value, 'webhook', (webhook) =>
      withinField(webhook, 'clientConfig', (config) =>
        isJsonObject(config['service'])
          ? withField(config, 'service', filled(config['service'], { port: 443 }))
          : config,
      ),
    ),
  )
}
