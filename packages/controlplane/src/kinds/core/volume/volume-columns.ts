import type { Json } from '../../../model/json.ts'
import { asList, asText, at } from '../../../model/json.ts'
import { isBeingDeleted } from '../../common/columns.ts'

const SHORT_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

export const modesColumn = (modes: unknown): string =>
  SHORT_MODES.filter(([mode]) => asList(modes).includes(mode))
    .map(([, short]) => short)
    .join(',')

export const phaseColumn = (object: Json): string =>
  isBeingDeleted(object) ? 'Terminating' : asText(at(object, 'status', 'phase'))

export const orUnset = (value: unknown): string => asText(value) || '<unset>'
