import type { JsonObject } from '@tenure/kube/model'

import { invalidValue, required } from '../field-errors.ts'
import type { FieldError } from '../types.ts'

const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const LABEL_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

/** Validates an embedded resource whose types are correct. */
export function checkEmbedded(value: JsonObject, path: string, errors: FieldError[]): void {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  for (const name of ['apiVersion', 'kind']) if (!Object.hasOwn(value, name)) errors.push(required(at(name)))
  const { apiVersion, kind } = value
  if (typeof apiVersion === 'string') {
    if (apiVersion === '') errors.push(invalidValue(at('apiVersion'), apiVersion, 'must not be empty'))
    else if (apiVersion.split('/').length > 2) {
      const why = `unexpected GroupVersion string: ${apiVersion}`
      errors.push(invalidValue(at('apiVersion'), apiVersion, why))
    }
  }
  if (typeof kind === 'string') {
    if (kind === '') errors.push(invalidValue(at('kind'), kind, 'must not be empty'))
    else {
      const wrong: string[] = []
      if (kind.length > 63) wrong.push('must be no more than 63 bytes')
      if (!LABEL.test(kind.toLowerCase())) wrong.push(LABEL_RULE)
      if (wrong.length > 0) {
        const why = `may have mixed case, but should otherwise match: ${wrong.join(',')}`
        errors.push(invalidValue(at('kind'), kind, why))
      }
    }
  }
}
