/** Validates a name or key. Returns the errors with the texts of kube-apiserver. */
export type NameRule = (value: string) => readonly string[]

const NONE: readonly string[] = []

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = String.raw`${LABEL}(\.${LABEL})*`
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const CONFIG_KEY = '[-._a-zA-Z0-9]+'
const WILDCARD = String.raw`\*\.${SUBDOMAIN}`
const PERCENT = '[0-9]+%'
const HEADER = '[-A-Za-z0-9]+'

const exactly = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`)
const label = exactly(LABEL)
const subdomain = exactly(SUBDOMAIN)
const label1035 = exactly(LABEL_1035)
const key = exactly(KEY)
const configKey = exactly(CONFIG_KEY)
const wildcard = exactly(WILDCARD)
const percent = exactly(PERCENT)
const header = exactly(HEADER)

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const KEY_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

export const mustBeShorter = (length: number): string => `must be no more than ${length} characters`
const mustBeFewerBytes = (length: number): string => `must be no more than ${length} bytes`

export function regexRule(rule: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${rule} (regex used for validation is '${pattern}')`
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`
}

export const mustBeBetween = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`

// The length is bounded because patterns with nested stars can take long.
const fits = (pattern: RegExp, value: string, limit = 1024): boolean => value.length <= limit && pattern.test(value)

export const dnsSubdomain: NameRule = (value) => {
  if (value.length <= 253 && subdomain.test(value)) return NONE
  const errors: string[] = []
  if (value.length > 253) errors.push(mustBeShorter(253))
  if (!fits(subdomain, value)) errors.push(regexRule(SUBDOMAIN_RULE, SUBDOMAIN, 'example.com'))
  return errors
}

export const dnsLabel: NameRule = (value) => {
  if (value.length <= 63 && label.test(value)) return NONE
  const errors: string[] = []
  if (value.length > 63) errors.push(mustBeShorter(63))
  if (!fits(label, value)) {
    errors.push(fits(subdomain, value) ? 'must not contain dots' : regexRule(LABEL_RULE, LABEL, 'my-name', '123-abc'))
  }
  return errors
}

export const dns1035Label: NameRule = (value) => {
  const errors: string[] = []
  if (value.length > 63) errors.push(mustBeShorter(63))
  if (!fits(label1035, value)) {
    errors.push(
      regexRule(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        LABEL_1035,
        'my-name',
        'abc-123',
      ),
    )
  }
  return errors
}

export const wildcardSubdomain: NameRule = (value) => {
  const errors: string[] = []
  if (value.length > 253) errors.push(mustBeShorter(253))
  if (!fits(wildcard, value)) {
    errors.push(
      regexRule(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        WILDCARD,
        '*.example.com',
      ),
    )
  }
  return errors
}

/** Names are segments of URL paths. */
export const pathSegment: NameRule = (value) => {
  if (value === '.') return [`may not be '.'`]
  if (value === '..') return [`may not be '..'`]
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`)
}

export const qualifiedName: NameRule = (value) => {
  const parts = value.split('/')
  const errors: string[] = []
  let name = parts[0] ?? ''
  if (parts.length === 2) {
    const prefix = name
    name = parts[1] ?? ''
    if (prefix === '') errors.push('prefix part must be non-empty')
    else errors.push(...prefixRule(prefix))
  } else if (parts.length > 2) {
    const rule = regexRule(KEY_RULE, KEY, 'MyName', 'my.name', '123-abc')
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (name.length > 63) errors.push(`name part ${mustBeFewerBytes(63)}`)
  if (!fits(key, name)) errors.push(`name part ${regexRule(KEY_RULE, KEY, 'MyName', 'my.name', '123-abc')}`)
  return errors.length > 0 ? errors : NONE
}

function prefixRule(prefix: string): readonly string[] {
  const errors: string[] = []
  if (prefix.length > 253) errors.push(`prefix part ${mustBeFewerBytes(253)}`)
  if (!fits(subdomain, prefix)) errors.push(`prefix part ${regexRule(SUBDOMAIN_RULE, SUBDOMAIN, 'example.com')}`)
  return errors
}

export const labelValue: NameRule = (value) => {
  if (value === '' || (value.length <= 63 && key.test(value))) return NONE
  const errors: string[] = []
  if (value.length > 63) errors.push(mustBeFewerBytes(63))
  if (!fits(key, value)) {
    errors.push(
      regexRule(
        `a valid label must be an empty string or ${KEY_RULE.slice(5)}`,
        `(${KEY})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    )
  }
  return errors
}

export const configMapKey: NameRule = (value) => {
  if (value.length <= 253 && configKey.test(value) && !value.startsWith('.')) return NONE
  const errors: string[] = []
  if (value.length > 253) errors.push(mustBeShorter(253))
  if (!configKey.test(value)) {
    errors.push(
      regexRule(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        CONFIG_KEY,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    )
  }
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`)
  else if (value.startsWith('..')) errors.push(`must not start with '..'`)
  return errors
}

export const envName: NameRule = (value) =>
  // oxlint-disable-next-line no-control-regex
  /^[\x20-\x7e]*$/.test(value) && !value.includes('=')
    ? NONE
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]

export const portName: NameRule = (value) => {
  const errors: string[] = []
  if (value.length > 15) errors.push(mustBeShorter(15))
  if (!/^[-a-z0-9]+$/.test(value)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

export const portNumber = (value: number): readonly string[] =>
  value >= 1 && value <= 65_535 ? NONE : [mustBeBetween(1, 65_535)]

export const percentage: NameRule = (value) =>
  percent.test(value)
    ? NONE
    : [regexRule("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%')]

export const headerName: NameRule = (value) =>
  header.test(value)
    ? NONE
    : [regexRule("a valid HTTP header must consist of alphanumeric characters or '-'", HEADER, 'X-Header-Name')]
