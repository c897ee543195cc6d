import { asJsons, asNumber, asText, at } from '../../model/json.ts'
import { notNegative } from '../../schema/field-errors.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

export const CONTROLLER_REVISIONS: KindTable = {
  'controllerrevisions.apps': {
    columns: (object, age) => {
      const owner = asJsons(at(object, 'metadata', 'ownerReferences')).find(({ controller }) => controller === true)
      const [, group = ''] = asText(owner?.['apiVersion']).split('/').toReversed()
      const kind = asText(owner?.['kind']).toLowerCase()
      const name = owner ? `${kind}${group && `.${group}`}/${asText(owner['name'])}` : '<none>'
      return [nameOf(object), name, asNumber(object['revision']), age(createdAt(object))]
    },
    rules: {
      generation: false,
      validate: (object) => notNegative('revision', object['revision']),
      validateChange: (object, old) => unchanged('data', object['data'], old['data']),
    },
  },
}
