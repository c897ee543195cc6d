/** What Kubernetes allows as names, label keys and label values, with its words for what it does not. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = String.raw`${LABEL}(\.${LABEL})*`
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

// Without the nested repetition of the published ones, which a long name could make very slow.
const IS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const IS_QUALIFIED = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/

const MESSAGES = {
  label:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  subdomain:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  qualified:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  value:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
} as const

function explain(message: string, pattern: string, ...examples: readonly string[]): string {
  const list = examples.map((example) => `'${example}', `).join(' or ')
  return `${message} (e.g. ${list}regex used for validation is '${pattern}')`
}

// The real server counts bytes in all of them, and says so of some.
const tooLong = (limit: number): string => `must be no more than ${limit} bytes`
const nameTooLong = (limit: number): string => `must be no more than ${limit} characters`

function isSubdomain(value: string): boolean {
  return value.split('.').every((part) => IS_LABEL.test(part))
}

export function checkLabelName(value: string): readonly string[] {
  const errors: string[] = []
  if (value.length > 63) errors.push(nameTooLong(63))
  if (!IS_LABEL.test(value)) {
    errors.push(isSubdomain(value) ? 'must not contain dots' : explain(MESSAGES.label, LABEL, 'my-name', '123-abc'))
  }
  return errors
}

export function checkSubdomainName(value: string, tellLength = nameTooLong): readonly string[] {
  const errors: string[] = []
  if (value.length > 253) errors.push(tellLength(253))
  if (!isSubdomain(value)) errors.push(explain(MESSAGES.subdomain, SUBDOMAIN, 'example.com'))
  return errors
}

/** What a URL can hold: the names of RBAC objects, and the least that every name must be. */
export function checkPathSegment(value: string): readonly string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  return ['/', '%'].filter((letter) => value.includes(letter)).map((letter) => `may not contain '${letter}'`)
}

/** Keys of labels and annotations, finalizers. */
export function checkQualifiedName(value: string): readonly string[] {
  const errors: string[] = []
  const parts = value.split('/')
  if (parts.length > 2) {
    return [
      `a valid label key ${explain(MESSAGES.qualified, QUALIFIED, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? parts[0] : undefined
  if (prefix === '') errors.push('prefix part must be non-empty')
  else if (prefix !== undefined)
    errors.push(...checkSubdomainName(prefix, tooLong).map((error) => `prefix part ${error}`))
  if (name === '') errors.push('name part must be non-empty')
  else if (name.length > 63) errors.push(`name part ${tooLong(63)}`)
  if (!IS_QUALIFIED.test(name)) {
    errors.push(`name part ${explain(MESSAGES.qualified, QUALIFIED, 'MyName', 'my.name', '123-abc')}`)
  }
  return errors
}

export function checkLabelValue(value: string): readonly string[] {
  const errors: string[] = []
  if (value.length > 63) errors.push(tooLong(63))
  if (value !== '' && !IS_QUALIFIED.test(value)) {
    errors.push(explain(MESSAGES.value, `(${QUALIFIED})?`, 'MyValue', 'my_value', '12345'))
  }
  return errors
}

/** The rule for names of a kind, by bucket; all others are subdomains. */
const RULES = new Map<string, (name: string) => readonly string[]>([
  ['namespaces', checkLabelName],
  ['services', checkLabelName],
  ['roles.rbac.authorization.k8s.io', checkPathSegment],
  ['rolebindings.rbac.authorization.k8s.io', checkPathSegment],
  ['clusterroles.rbac.authorization.k8s.io', checkPathSegment],
  ['clusterrolebindings.rbac.authorization.k8s.io', checkPathSegment],
])

export function checkName(bucket: string, name: string): readonly string[] {
  return RULES.get(bucket)?.(name) ?? checkSubdomainName(name)
}

/** A generateName is judged as if it ended in a letter, since what is appended will. */
export function checkNamePrefix(bucket: string, prefix: string): readonly string[] {
  return checkName(bucket, prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix)
}
