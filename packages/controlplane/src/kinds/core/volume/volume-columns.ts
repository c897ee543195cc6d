import type { JsonObject } from '@tenure/kube/model'
import { asArray, asString, valueAtPath } from '@tenure/kube/model'

import { isBeingDeleted } from '../../common/columns.ts'

const SHORT_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

export const modesColumn = (modes: unknown): string =>
  SHORT_MODES.filter(([mode]) => asArray(modes).includes(mode))
    .map(([, short]) => short)
    .join(',')

export const phaseColumn = (object: JsonObject): string =>
  isBeingDeleted(object) ? 'Terminating' : asString(valueAtPath(object, 'status', 'phase'))

export const orUnset = (value: unknown): string => asString(value) || '<unset>'
