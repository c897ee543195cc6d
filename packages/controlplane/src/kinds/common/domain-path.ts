import { dnsSubdomain } from '@tenure/kube/model'

import { invalidEach, invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'

const PATH = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`
const path = new RegExp(`^${PATH}$`)

/** Validates a domain-prefixed path: `example.com/name`. */
export function validateDomainPath(text: string, field: string): FieldError[] {
  if (text === '') return [required(field)]
  const slash = text.indexOf('/')
  if (slash <= 0 || slash === text.length - 1) {
    return [invalidValue(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)]
  const errors = invalidEach(field, domain, dnsSubdomain(domain))
  if (path.test(rest)) return errors
  return [...errors, invalidValue(field, rest, `Invalid path (regex used for validation is '${PATH}')`)]
}
