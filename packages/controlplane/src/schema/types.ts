/** A structural schema, built in or of a CRD: OpenAPI v3 with short names for the Kubernetes extensions. */
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
  /** The name of a built-in definition that this refers to. */
  readonly ref?: string
  /** Built-in kinds only: omitted from responses if empty (Go's `omitempty`). */
  readonly omitEmpty?: boolean
  /** Built-in kinds only: the type name in decoding errors, such as `v1.PullPolicy`. */
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

/** An error of one field, with the text of kube-apiserver. */
export interface FieldError {
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldValueNotSupported`, `FieldValueDuplicate`, `FieldValueForbidden`, `FieldValueTypeInvalid`, `FieldValueTooLong`, `FieldValueTooMany`… */
  readonly reason: string
  /** `spec.template.spec.containers[0].name`. */
  readonly field: string
  /** The text without the field: `Required value`, `Invalid value: "x": must be …`. */
  readonly message: string
}
