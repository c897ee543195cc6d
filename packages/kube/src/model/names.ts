/** A rule for names: returns the errors in kube-apiserver's words, none if the value is valid. */
export type NameRule = (value: string) => readonly string[]

const NONE: readonly string[] = []

// The patterns as kube-apiserver prints them.
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = String.raw`${LABEL}(\.${LABEL})*`
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const WILDCARD = String.raw`\*\.${SUBDOMAIN}`

// Labels are tested one by one, so that a long value cannot make the nested repetition of SUBDOMAIN slow.
const IS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const IS_LABEL_1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const IS_QUALIFIED = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/

const MAX_LABEL_LENGTH = 63
const MAX_SUBDOMAIN_LENGTH = 253

const QUALIFIED_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

/** As k8s.io/apimachinery's `MaxLenError`. */
export const maxLengthError = (length: number): string => `must be no more than ${length} characters`
const maxBytesError = (length: number): string => `must be no more than ${length} bytes`

/** As k8s.io/apimachinery's `RegexError`. */
export function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`
  const list = examples.map((example) => `'${example}', `).join(' or ')
  return `${message} (e.g. ${list}regex used for validation is '${pattern}')`
}

function matchesSubdomain(value: string): boolean {
  return value.includes('.') ? value.split('.').every((part) => IS_LABEL.test(part)) : IS_LABEL.test(value)
}

/** Whether `value` is a valid object name, and a valid prefix of label and annotation keys. */
export function isDnsSubdomain(value: string): boolean {
  return value.length <= MAX_SUBDOMAIN_LENGTH && matchesSubdomain(value)
}

/** RFC 1123 subdomain: the names of most objects. */
export const dnsSubdomain: NameRule = (value) => (isDnsSubdomain(value) ? NONE : subdomainErrors(value, maxLengthError))

function subdomainErrors(value: string, lengthError: (length: number) => string): readonly string[] {
  const errors: string[] = []
  if (value.length > MAX_SUBDOMAIN_LENGTH) errors.push(lengthError(MAX_SUBDOMAIN_LENGTH))
  if (!matchesSubdomain(value)) {
    errors.push(
      regexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        'example.com',
      ),
    )
  }
  return errors
}

/** RFC 1123 label: the names of namespaces and Services, for example. */
export const dnsLabel: NameRule = (value) => {
  if (value.length <= MAX_LABEL_LENGTH && IS_LABEL.test(value)) return NONE
  const errors: string[] = []
  if (value.length > MAX_LABEL_LENGTH) errors.push(maxLengthError(MAX_LABEL_LENGTH))
  if (!IS_LABEL.test(value)) {
    errors.push(
      matchesSubdomain(value)
        ? 'must not contain dots'
        : regexError(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            LABEL,
            'my-name',
            '123-abc',
          ),
    )
  }
  return errors
}

/** RFC 1035 label: as RFC 1123, but starting with a letter. */
export const dns1035Label: NameRule = (value) => {
  const errors: string[] = []
  if (value.length > MAX_LABEL_LENGTH) errors.push(maxLengthError(MAX_LABEL_LENGTH))
  if (!IS_LABEL_1035.test(value)) {
    errors.push(
      regexError(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        LABEL_1035,
        'my-name',
        'abc-123',
      ),
    )
  }
  return errors
}

/** A subdomain after `*.`: hosts of Ingress rules. */
export const wildcardSubdomain: NameRule = (value) => {
  const errors: string[] = []
  if (value.length > MAX_SUBDOMAIN_LENGTH) errors.push(maxLengthError(MAX_SUBDOMAIN_LENGTH))
  if (!value.startsWith('*.') || !matchesSubdomain(value.slice(2))) {
    errors.push(
      regexError(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        WILDCARD,
        '*.example.com',
      ),
    )
  }
  return errors
}

/** The rule for every name, since names appear in URL paths. For RBAC objects it is the only one. */
export const pathSegment: NameRule = (value) => {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  if (!value.includes('/') && !value.includes('%')) return NONE
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`)
}

/** Keys of labels, finalizers, and most other names with an optional DNS prefix. */
export const qualifiedName: NameRule = (value) => {
  const parts = value.split('/')
  if (parts.length > 2) {
    const rule = regexError(QUALIFIED_MESSAGE, QUALIFIED, 'MyName', 'my.name', '123-abc')
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const errors: string[] = []
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? parts[0] : undefined
  if (prefix === '') errors.push('prefix part must be non-empty')
  else if (prefix !== undefined && !isDnsSubdomain(prefix)) {
    errors.push(...subdomainErrors(prefix, maxBytesError).map((error) => `prefix part ${error}`))
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (name.length > MAX_LABEL_LENGTH) errors.push(`name part ${maxBytesError(MAX_LABEL_LENGTH)}`)
  if (!IS_QUALIFIED.test(name)) {
    errors.push(`name part ${regexError(QUALIFIED_MESSAGE, QUALIFIED, 'MyName', 'my.name', '123-abc')}`)
  }
  return errors.length > 0 ? errors : NONE
}

/** Keys of annotations: qualified names in any case. */
export const annotationKey: NameRule = (value) => qualifiedName(value.toLowerCase())

export const labelValue: NameRule = (value) => {
  if (value === '' || (value.length <= MAX_LABEL_LENGTH && IS_QUALIFIED.test(value))) return NONE
  const errors: string[] = []
  if (value.length > MAX_LABEL_LENGTH) errors.push(maxBytesError(MAX_LABEL_LENGTH))
  if (!IS_QUALIFIED.test(value)) {
    errors.push(
      regexError(
        `a valid label must be an empty string or ${QUALIFIED_MESSAGE.slice('must '.length)}`,
        `(${QUALIFIED})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    )
  }
  return errors
}
