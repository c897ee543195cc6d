import { invalidValue } from '../field-errors.ts'
import type { FieldError, Rule, Schema } from '../types.ts'
import type { Validator } from './compile.ts'
import { validatorOf } from './compile.ts'

/**
 * Compiles the CEL rules of a CRD schema and returns the errors. Requires a schema that `checkStructural` accepts; `path` is
 * the path of the schema: `spec.versions[0].schema.openAPIV3Schema`.
 */
export function checkRules(schema: Schema, path: string): FieldError[] {
  const validator = validatorOf(schema)
  if (!validator) return []
  const errors: FieldError[] = []
  check(validator, path, undefined, errors)
  return errors
}

function check(validator: Validator, path: string, uncorrelatable: string | undefined, errors: FieldError[]): void {
  for (const [name, property] of validator.properties) {
    check(property, `${path}.properties[${name}]`, uncorrelatable, errors)
  }
  if (validator.additional) check(validator.additional, `${path}.additionalProperties`, uncorrelatable, errors)
  if (validator.items) {
    // Items of other lists cannot be correlated with an old item.
    const within = uncorrelatable ?? (validator.schema.listType === 'map' ? undefined : path)
    check(validator.items, `${path}.items`, within, errors)
  }
  validator.rules.forEach(({ rule, program, error, messageError }, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`
    if (error !== undefined) errors.push(invalidValue(`${at}.rule`, toGoRule(rule), error))
    if (messageError !== undefined) errors.push(invalidValue(`${at}.messageExpression`, toGoRule(rule), messageError))
    if (program?.usesOldSelf) {
      if (uncorrelatable !== undefined) {
        const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
        errors.push(invalidValue(`${at}.rule`, rule.rule, why))
      }
    } else if (program && rule.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule'
      errors.push(invalidValue(`${at}.optionalOldSelf`, rule.optionalOldSelf, why))
    }
  })
}

/** The rule as kube-apiserver prints it: the Go struct. */
function toGoRule(rule: Rule): GoRule {
  return new GoRule(rule)
}

class GoRule {
  readonly #rule: Rule

  constructor(rule: Rule) {
    this.#rule = rule
  }

  toJSON(): unknown {
    const {
      rule,
      message = '',
      messageExpression = '',
      reason = null,
      fieldPath = '',
      optionalOldSelf = null,
    } = this.#rule
    return {
      Rule: rule,
      Message: message,
      MessageExpression: messageExpression,
      Reason: reason,
      FieldPath: fieldPath,
      OptionalOldSelf: optionalOldSelf,
    }
  }
}
