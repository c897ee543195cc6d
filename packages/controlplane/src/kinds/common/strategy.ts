import type { KubeObject, Stored } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject } from '@tenure/kube/model'

import { withField } from '../../model/json.ts'
import type { Strategy } from '../../registry/types.ts'
import type { FieldError } from '../../schema/types.ts'

/** The part of a `Strategy` that a kind defines, on plain JSON. */
export interface KindRules extends Omit<
  Strategy,
  'defaults' | 'prepareForCreate' | 'prepareForUpdate' | 'validate' | 'validateUpdate' | 'validateStatus' | 'warnings'
> {
  defaults?(object: JsonObject): JsonObject
  prepareForCreate?(object: JsonObject): JsonObject
  prepareForUpdate?(object: JsonObject, old: JsonObject): JsonObject
  /** Validates everything except metadata. */
  validate?(object: JsonObject): FieldError[]
  /** Validates what an update changes, after `validate`. */
  validateChange?(object: JsonObject, old: JsonObject): FieldError[]
  /** Validates an update instead of `validate` and `validateChange`. */
  validateUpdate?(object: JsonObject, old: JsonObject): FieldError[]
  /** Validates an update of the status. Default: as any update. */
  validateStatus?(object: JsonObject): FieldError[]
  /** Validates a new object, after `validate`. Requires `validateChange`. */
  validateNew?(object: JsonObject): FieldError[]
  /** Returns warnings for the client. `old` is undefined on create. */
  warnings?(object: JsonObject, old: JsonObject | undefined): readonly string[]
  /** The status of a new object. Default: empty, if there is a status subresource. */
  readonly newStatus?: JsonObject
}

/** Builds the strategy of a kind from its rules. */
export function composeStrategy(hasStatus: boolean, rules: KindRules = {}): Strategy {
  const { defaults, prepareForCreate, prepareForUpdate, validate, validateChange, validateNew, ...others } = rules
  const { newStatus: isNew = {}, warnings, validateUpdate, validateStatus, ...rest } = others
  return {
    ...rest,
    ...(defaults && { defaults: (object: KubeObject) => defaults(fieldsOf(object)) }),
    prepareForCreate(object) {
      const fields = fieldsOf(object)
      const status = rest.keepsStatusOnCreate ? { ...isNew, ...asJsonObject(fields['status']) } : isNew
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

export function fieldsOf(object: KubeObject): JsonObject {
  return object as unknown as JsonObject
}
