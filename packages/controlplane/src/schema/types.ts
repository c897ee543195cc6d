/** A structural schema, built in or of a CRD: what OpenAPI v3 has, and Kubernetes' extensions, under short names. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly not?: Schema
  readonly description?: string
  /** x-kubernetes-int-or-string */
  readonly intOrString?: boolean
  /** x-kubernetes-preserve-unknown-fields */
  readonly preserveUnknown?: boolean
  /** x-kubernetes-embedded-resource */
  readonly embeddedResource?: boolean
  /** x-kubernetes-list-type */
  readonly listType?: 'atomic' | 'set' | 'map'
  /** x-kubernetes-list-map-keys */
  readonly listMapKeys?: readonly string[]
  /** x-kubernetes-map-type */
  readonly mapType?: 'atomic' | 'granular'
  /** x-kubernetes-patch-strategy, built-in kinds only: `merge`, `replace`, `retainKeys`. */
  readonly patchStrategy?: string
  /** x-kubernetes-patch-merge-key, built-in kinds only. */
  readonly patchMergeKey?: string
  /** x-kubernetes-validations */
  readonly rules?: readonly Rule[]
  /** The name of a shared definition that this stands for; resolved by the registry of built-in schemas. */
  readonly ref?: string
  /** Built-in kinds only: left out of answers when it is empty (Go's `omitempty`). */
  readonly omitEmpty?: boolean
  /** Built-in kinds only: what decoding errors call the type, where the schema does not say: `v1.PullPolicy`. */
  readonly goType?: string
  /** Built-in kinds only: the embedded struct that decoding errors name before the field: `ProbeHandler`. */
  readonly goInline?: string
}

/** A CEL rule. */
export interface Rule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** One complaint about one field, as the API server words it. */
export interface FieldError {
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldValueNotSupported`, `FieldValueDuplicate`, `FieldValueForbidden`, `FieldValueTypeInvalid`, `FieldValueTooLong`, `FieldValueTooMany`… */
  readonly reason: string
  /** `spec.template.spec.containers[0].name`. */
  readonly field: string
  /** Without the field: `Required value`, `Invalid value: "x": must be …`. */
  readonly message: string
}
