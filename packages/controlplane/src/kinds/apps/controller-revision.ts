import { asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, asNumber } from '../../model/json.ts'
import { notNegative } from '../../schema/field-errors.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

export const CONTROLLER_REVISIONS: KindTable = {
  'controllerrevisions.apps': {
    columns: (object, age) => {
      const owner = asJsonObjects(valueAtPath(object, 'metadata', 'ownerReferences')).find(
        ({ controller }) => controller === true,
      )
      const [, group = ''] = asString(owner?.['apiVersion']).split('/').toReversed()
      const kind = asString(owner?.['kind']).toLowerCase()
      const name = owner ? `${kind}${group && `.${group}`}/${asString(owner['name'])}` : '<none>'
      return [nameOf(object), name, asNumber(object['revision']), age(createdAt(object))]
    },
    rules: {
      generation: false,
      validate: (object) => notNegative('revision', object['revision']),
      validateChange: (object, old) => unchanged('data', object['data'], old['data']),
    },
  },
}
