import type { KubeObject, Stored } from '@tenure/kube'

import type { Json } from '../../model/json.ts'
import { asJson, withField } from '../../model/json.ts'
import type { Strategy } from '../../registry/types.ts'
import type { FieldError } from '../../schema/types.ts'

/** What a kind of the table says of itself, on its fields; the rest is the same for all. */
export interface KindRules extends Omit<
  Strategy,
  'defaults' | 'prepareForCreate' | 'prepareForUpdate' | 'validate' | 'validateUpdate' | 'validateStatus' | 'warnings'
> {
  defaults?(object: Json): Json
  prepareForCreate?(object: Json): Json
  prepareForUpdate?(object: Json, old: Json): Json
  /** What is wrong with it, besides its metadata. */
  validate?(object: Json): FieldError[]
  /** What an update may not do. What `validate` says comes before it. */
  validateChange?(object: Json, old: Json): FieldError[]
  /** What is wrong with an update, where that is not `validate` and then `validateChange`. */
  validateUpdate?(object: Json, old: Json): FieldError[]
  /** What is wrong with a new status. Default: as any other update. */
  validateStatus?(object: Json): FieldError[]
  /** What else a new one may not be. Only next to `validateChange`. */
  validateNew?(object: Json): FieldError[]
  /** What its sender should know, though it is taken. Without `old` it is new. */
  warnings?(object: Json, old: Json | undefined): readonly string[]
  /** Its status when it is new. Default: an empty one, if it has a status subresource. */
  readonly newStatus?: Json
}

/** The whole strategy of a kind: what it says of itself, and what all do. */
export function composeStrategy(hasStatus: boolean, rules: KindRules = {}): Strategy {
  const { defaults, prepareForCreate, prepareForUpdate, validate, validateChange, validateNew, ...others } = rules
  const { newStatus: isNew = {}, warnings, validateUpdate, validateStatus, ...rest } = others
  return {
    ...rest,
    ...(defaults && { defaults: (object: KubeObject) => defaults(fieldsOf(object)) }),
    prepareForCreate(object) {
      const fields = fieldsOf(object)
      const status = rest.bringsStatus ? { ...isNew, ...asJson(fields['status']) } : isNew
      const reset = hasStatus ? withField(fields, 'status', status) : fields
      return prepareForCreate ? prepareForCreate(reset) : reset
    },
    ...(prepareForUpdate && {
      prepareForUpdate: (object: KubeObject, old: Stored<KubeObject>) =>
        prepareForUpdate(fieldsOf(object), fieldsOf(old)),
    }),
    ...(warnings && {
      warnings: (object: KubeObject, old: Stored<KubeObject> | undefined) =>
        warnings(fieldsOf(object), old && fieldsOf(old)),
    }),
    ...(validate && {
      validate: (object: KubeObject) => [...validate(fieldsOf(object)), ...(validateNew?.(fieldsOf(object)) ?? [])],
    }),
    ...(validateStatus && { validateStatus: (object: KubeObject) => validateStatus(fieldsOf(object)) }),
    ...(validateUpdate && {
      validateUpdate: (object: KubeObject, old: Stored<KubeObject>) => validateUpdate(fieldsOf(object), fieldsOf(old)),
    }),
    ...(validateChange && {
      validateUpdate: (object: KubeObject, old: Stored<KubeObject>) => [
        ...(validate?.(fieldsOf(object)) ?? []),
        ...validateChange(fieldsOf(object), fieldsOf(old)),
      ],
    }),
  }
}

/** The object as the JSON it is. */
export function fieldsOf(object: KubeObject): Json {
  return object as unknown as Json
}
