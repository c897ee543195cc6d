import { TenureError } from '../errors/errors.ts'

export type Labels = Readonly<Record<string, string>>

/** metav1.LabelSelector: every part must match. Empty, it selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | (string & {})
  readonly values?: readonly string[]
}

type Operator = 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt'

interface Requirement {
  readonly key: string
  readonly operator: Operator
  /** Sorted, without repetitions. */
  readonly values: readonly string[]
}

/** A label selector, ready to judge labels. It prints as the server reads it. */
export class LabelMatcher {
  readonly #requirements: readonly Requirement[]

  private constructor(requirements: readonly Requirement[]) {
    this.#requirements = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  }

  /** `app=web,tier!=cache,env in (test,prod),!legacy,size>3`. The empty string selects everything. */
  static parse(text: string): LabelMatcher {
    return new LabelMatcher(new Parser(text).parse())
  }

  /** From the object that Deployments, Services' peers and webhooks carry. */
  static from(selector: LabelSelector): LabelMatcher {
    const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirement(key, 'in', [value]))
    const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
      const known = OPERATORS.get(operator)
      const needsValues = known === 'in' || known === 'notin'
      if (!known || needsValues !== values.length > 0) {
        throw invalid(
          JSON.stringify(selector),
          `the expression on "${key}" has an unknown operator or the wrong values`,
        )
      }
      return requirement(key, known, values)
    })
    return new LabelMatcher([...equal, ...expressions])
  }

  /** True if everything is selected. */
  get isEmpty(): boolean {
    return this.#requirements.length === 0
  }

  matches(labels: Labels | undefined): boolean {
    return this.#requirements.every((requirement) => meets(requirement, labels))
  }

  toString(): string {
    return this.#requirements.map(print).join(',')
  }
}

const OPERATORS = new Map<string, Operator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', 'absent'],
])

function meets({ key, operator, values }: Requirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value)
    // Also true of an object without the label, as in Kubernetes.
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    default: {
      if (value === undefined || !INTEGER.test(value)) return false
      const difference = BigInt(value) - BigInt(values[0] ?? '0')
      return operator === 'gt' ? difference > 0n : difference < 0n
    }
  }
}

function print({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'in':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`
    case 'notin':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`
    case 'exists':
      return key
    case 'absent':
      return `!${key}`
    case 'gt':
      return `${key}>${values[0]}`
    default:
      return `${key}<${values[0]}`
  }
}

const INTEGER = /^-?\d+$/
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

function requirement(key: string, operator: Operator, values: readonly string[]): Requirement {
  const slash = key.indexOf('/')
  if (!NAME.test(key.slice(slash + 1)) || (slash >= 0 && !PREFIX.test(key.slice(0, slash)))) {
    throw invalid(key, `"${key}" is not a label's name`)
  }
  for (const value of values) {
    if (value !== '' && !NAME.test(value)) throw invalid(`${key}=${value}`, `"${value}" is not a label's value`)
  }
  return { key, operator, values: [...new Set(values)].toSorted() }
}

function invalid(selector: string, why: string): TenureError {
  return new TenureError(
    'TENURE_SELECTOR_INVALID',
    `The label selector "${selector}" can not be read: ${why}. Write it like "app=web,env in (test,prod),!legacy".`,
  )
}

/** Words and signs, in order; blanks only separate. */
const TOKEN = /\s*(==|!=|[=<>!(),]|[^\s=<>!(),]+)/y

class Parser {
  readonly #text: string
  readonly #tokens: string[] = []
  #next = 0

  constructor(text: string) {
    this.#text = text
    TOKEN.lastIndex = 0
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) this.#tokens.push(match[1] ?? '')
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    if (this.#tokens.length === 0) return requirements
    do requirements.push(this.#requirement())
    while (this.#takeIf(','))
    if (this.#peek() !== undefined) throw this.#unexpected()
    return requirements
  }

  #requirement(): Requirement {
    if (this.#takeIf('!')) return requirement(this.#word(), 'absent', [])
    const key = this.#word()
    const token = this.#peek()
    switch (token) {
      case undefined:
      case ',':
        return requirement(key, 'exists', [])
      case '=':
      case '==':
        this.#next++
        return requirement(key, 'in', [this.#value()])
      case '!=':
        this.#next++
        return requirement(key, 'notin', [this.#value()])
      case 'in':
      case 'notin':
        this.#next++
        return requirement(key, token, this.#values())
      case '>':
      case '<': {
        this.#next++
        const value = this.#word()
        // A label's value begins with no sign, so no bound does.
        if (!/^\d+$/.test(value)) throw invalid(this.#text, `"${value}" is not a whole number`)
        return { key: requirement(key, 'exists', []).key, operator: token === '>' ? 'gt' : 'lt', values: [value] }
      }
      default:
        throw this.#unexpected()
    }
  }

  #values(): string[] {
    if (!this.#takeIf('(')) throw this.#unexpected()
    const values: string[] = []
    do values.push(this.#value())
    while (this.#takeIf(','))
    if (!this.#takeIf(')')) throw this.#unexpected()
    return values
  }

  /** A word, or nothing: `app=` asks for the empty value. */
  #value(): string {
    const token = this.#peek()
    return token === undefined || token === ',' || token === ')' ? '' : this.#word()
  }

  #word(): string {
    const token = this.#peek()
    if (token === undefined || /^[=<>!(),]/.test(token)) throw this.#unexpected()
    this.#next++
    return token
  }

  #takeIf(token: string): boolean {
    if (this.#peek() !== token) return false
    this.#next++
    return true
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next]
  }

  #unexpected(): TenureError {
    const token = this.#peek()
    return invalid(this.#text, token === undefined ? 'it ends too early' : `"${token}" is not expected there`)
  }
}
