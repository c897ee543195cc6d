import { stringFormat } from '../../formats/formats.ts'

/** The named formats of CEL rules, with the error texts of Kubernetes, which differ from those for metadata. */

type Check = (text: string) => readonly string[]

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const example = (examples: readonly string[], pattern: string): string =>
  `(e.g. ${examples.map((text) => `'${text}'`).join(', or ')}, regex used for validation is '${pattern}')`

function named(most: number, pattern: string, rule: string, examples: readonly string[]): Check {
  const expression = new RegExp(`^${pattern}$`)
  return (text) => [
    ...(text.length > most ? [`must be no more than ${most} bytes`] : []),
    ...(expression.test(text) ? [] : [`${rule} ${example(examples, pattern)}`]),
  ]
}

const label = named(
  63,
  LABEL,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
)
const subdomain = named(
  253,
  `${LABEL}(\\.${LABEL})*`,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
)
const label1035 = named(
  63,
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
)
const namePart = named(
  63,
  NAME_PART,
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyName', 'my.name', '123-abc'],
)
const labelValue = named(
  63,
  `(${NAME_PART})?`,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
)

function qualifiedName(text: string): readonly string[] {
  const parts = text.split('/')
  if (parts.length > 2) return ['a qualified name must consist of one name and an optional DNS subdomain prefix']
  const [prefix, name] = parts.length === 2 ? parts : [undefined, parts[0]]
  const errors = prefix === undefined ? [] : prefix === '' ? ['prefix part must be non-empty'] : subdomain(prefix)
  return [...errors, ...(name === '' ? ['name part must be non-empty'] : []), ...namePart(name ?? '')]
}

/** A prefix may end with a dash. */
const prefixed =
  (check: Check): Check =>
  (text) =>
    check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text)

const plain =
  (format: string, why: string): Check =>
  (text) =>
    stringFormat(format)?.(text) ? [] : [why]

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['dns1123Label', label],
  ['dns1123Subdomain', subdomain],
  ['dns1035Label', label1035],
  ['qualifiedName', qualifiedName],
  ['labelValue', labelValue],
  ['dns1123LabelPrefix', prefixed(label)],
  ['dns1123SubdomainPrefix', prefixed(subdomain)],
  ['dns1035LabelPrefix', prefixed(label1035)],
  ['uri', plain('uri', 'invalid URI')],
  ['uuid', plain('uuid', 'does not match the UUID format')],
  ['byte', plain('byte', 'invalid base64')],
  ['date', plain('date', 'invalid date')],
  ['datetime', plain('date-time', 'invalid datetime')],
])

export class NamedFormat {
  static readonly names: readonly string[] = [...CHECKS.keys()]
  readonly name: string
  readonly #check: Check

  constructor(name: string, check: Check) {
    this.name = name
    this.#check = check
  }

  validate(text: string): readonly string[] {
    return this.#check(text)
  }

  equals(other: unknown): boolean {
    return other instanceof NamedFormat && this.name === other.name
  }
}

const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  [...CHECKS].map(([name, check]) => [name, new NamedFormat(name, check)]),
)

export function namedFormat(name: string): NamedFormat | undefined {
  return FORMATS.get(name)
}
