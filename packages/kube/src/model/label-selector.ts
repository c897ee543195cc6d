import { TenureError } from '../errors/errors.ts'
import { labelValue, qualifiedName } from './names.ts'

export type Labels = Readonly<Record<string, string>>

/** metav1.LabelSelector: every part must match. An empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | (string & {})
  readonly values?: readonly string[]
}

/** A label selector that cannot be parsed. */
export class LabelSelectorError extends TenureError {
  /** The problem in kube-apiserver's words. */
  readonly serverMessage: string

  constructor(selector: string, serverMessage: string) {
    super(
      'TENURE_SELECTOR_INVALID',
      `The label selector "${selector}" cannot be parsed: ${serverMessage}. Write it like "app=web,env in (test,prod),!legacy".`,
    )
    this.serverMessage = serverMessage
  }
}

type SelectorOperator = 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt'

interface Requirement {
  readonly key: string
  readonly operator: SelectorOperator
  /** Sorted and unique. */
  readonly values: readonly string[]
}

/** A parsed label selector. `toString` gives the text that the API server accepts. */
export class LabelMatcher {
  readonly #requirements: readonly Requirement[]

  private constructor(requirements: readonly Requirement[]) {
    this.#requirements = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  }

  /** `app=web,tier!=cache,env in (test,prod),!legacy,size>3`. The empty string selects everything. */
  static parse(text: string): LabelMatcher {
    return new LabelMatcher(new Parser(text).parse())
  }

  /** From the object form that Deployments, network policies and webhooks use. */
  static from(selector: LabelSelector): LabelMatcher {
    const fail = (message: string): LabelSelectorError => new LabelSelectorError(JSON.stringify(selector), message)
    const checked = (key: string, operator: SelectorOperator, values: readonly string[]): Requirement => {
      const error = qualifiedName(key)[0]
      if (error !== undefined) throw fail(`key: Invalid value: ${JSON.stringify(key)}: ${error}`)
      return requirement(key, operator, values, fail)
    }
    const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => checked(key, 'in', [value]))
    const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
      const known = OPERATORS.get(operator)
      const needsValues = known === 'in' || known === 'notin'
      if (!known || needsValues !== values.length > 0) {
        throw fail(`the expression on "${key}" has an unknown operator or the wrong values`)
      }
      return checked(key, known, values)
    })
    return new LabelMatcher([...equal, ...expressions])
  }

  /** True if everything is selected. */
  get isEmpty(): boolean {
    return this.#requirements.length === 0
  }

  matches(labels: Labels | undefined): boolean {
    for (const requirement of this.#requirements) if (!meets(requirement, labels)) return false
    return true
  }

  toString(): string {
    return this.#requirements.map(print).join(',')
  }
}

const OPERATORS = new Map<string, SelectorOperator>([
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
      const actual = value === undefined ? undefined : parseInt64(value)
      if (actual === undefined) return false
      const bound = parseInt64(values[0] ?? '') ?? 0n
      return operator === 'gt' ? actual > bound : actual < bound
    }
  }
}

const INT64_LIMIT = 2n ** 63n

/** As Go's `strconv.ParseInt(text, 10, 64)`, which also accepts `+5`. */
function parseInt64(text: string): bigint | undefined {
  const [, sign, digits] = /^([-+]?)(\d+)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
  return value >= -INT64_LIMIT && value < INT64_LIMIT ? value : undefined
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

function requirement(
  key: string,
  operator: SelectorOperator,
  values: readonly string[],
  fail: (message: string) => LabelSelectorError,
): Requirement {
  const sorted = values.length < 2 ? values : [...new Set(values)].toSorted()
  for (const [index, value] of sorted.entries()) {
    const error = labelValue(value)[0]
    if (error !== undefined) throw fail(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${error}`)
  }
  return { key, operator, values: sorted }
}

const SPECIAL = new Set(['=', '!', '(', ')', '>', '<', ','])
const SIGNS = new Set(['=', '==', '!=', '!', '(', ')', '>', '<', ','])

interface Token {
  readonly type: 'word' | 'sign' | 'end'
  readonly text: string
}

/** Parses as k8s.io/apimachinery/pkg/labels does and fails with its messages. */
class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokensOf(text)
  }

  parse(): readonly Requirement[] {
    const requirements: Requirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.type === 'end') return requirements
      if (token.type !== 'word' && token.text !== '!') {
        throw this.#error(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const after = this.#take()
      if (after.type === 'end') return requirements
      if (after.text !== ',' || after.type !== 'sign') {
        throw this.#error(`found '${after.text}', expected: ',' or 'end of string'`)
      }
      const next = this.#peek()
      if (next.type !== 'word' && next.text !== '!') {
        throw this.#error(`found '${next.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): Requirement {
    let token = this.#take()
    const isNegated = token.type === 'sign' && token.text === '!'
    if (isNegated) token = this.#take()
    if (token.type !== 'word') throw this.#requirementError(`found '${token.text}', expected: identifier`)
    const key = token.text
    const error = qualifiedName(key)[0]
    if (error !== undefined) {
      throw this.#requirementError(`<nil>: Invalid value: ${JSON.stringify(key)}: ${error}`)
    }
    if (isNegated) return { key, operator: 'absent', values: [] }
    const next = this.#peek()
    if (next.type === 'end' || (next.type === 'sign' && next.text === ','))
      return { key, operator: 'exists', values: [] }
    return this.#comparison(key, this.#take())
  }

  #comparison(key: string, operator: Token): Requirement {
    switch (operator.text) {
      case 'in':
      case 'notin':
        return this.#checked(key, operator.text, this.#values())
      case '=':
      case '==':
        return this.#checked(key, 'in', [this.#exactValue()])
      case '!=':
        return this.#checked(key, 'notin', [this.#exactValue()])
      case '>':
      case '<': {
        const value = this.#exactValue()
        if (parseInt64(value) === undefined) {
          throw this.#requirementError(
            `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          )
        }
        return this.#checked(key, operator.text === '>' ? 'gt' : 'lt', [value])
      }
      default:
        throw this.#requirementError(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  #checked(key: string, operator: SelectorOperator, values: readonly string[]): Requirement {
    return requirement(key, operator, values, (message) => this.#requirementError(message))
  }

  /** A word, or the empty value: `app=`. */
  #exactValue(): string {
    const next = this.#peek()
    if (next.type === 'end' || (next.type === 'sign' && next.text === ',')) return ''
    const token = this.#take()
    if (token.type === 'word') return token.text
    throw this.#requirementError(`found '${token.text}', expected: identifier`)
  }

  #values(): readonly string[] {
    const open = this.#take()
    if (open.text !== '(') throw this.#requirementError(`found '${open.text}' expected: '('`)
    const values: string[] = []
    let expectsValue = true
    for (;;) {
      const token = this.#take()
      if (token.type === 'word' && expectsValue) {
        values.push(token.text)
        expectsValue = false
      } else if (token.type === 'sign' && (token.text === ',' || token.text === ')')) {
        if (expectsValue) values.push('')
        if (token.text === ')') return values
        expectsValue = true
      } else if (expectsValue) {
        const expected = values.length === 0 ? "',', ')' or identifier" : "',', or identifier"
        throw this.#requirementError(`found '${token.text}', expected: ${expected}`)
      } else throw this.#requirementError(`found '${token.text}', expected: ',' or ')'`)
    }
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? END
  }

  #take(): Token {
    const token = this.#peek()
    this.#next++
    return token
  }

  #error(message: string): LabelSelectorError {
    return new LabelSelectorError(this.#text, message)
  }

  #requirementError(message: string): LabelSelectorError {
    return this.#error(`unable to parse requirement: ${message}`)
  }
}

const END: Token = { type: 'end', text: '' }

const isBlank = (letter: string): boolean => letter === ' ' || letter === '\t' || letter === '\r' || letter === '\n'

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length;) {
    const letter = text.charAt(at)
    if (isBlank(letter)) {
      at++
      continue
    }
    let end = at + 1
    if (SPECIAL.has(letter)) {
      while (end < text.length && SIGNS.has(text.slice(at, end + 1))) end++
      tokens.push({ type: 'sign', text: text.slice(at, end) })
    } else {
      while (end < text.length && !SPECIAL.has(text.charAt(end)) && !isBlank(text.charAt(end))) end++
      tokens.push({ type: 'word', text: text.slice(at, end) })
    }
    at = end
  }
  return tokens
}
