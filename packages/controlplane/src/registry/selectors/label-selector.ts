import { badRequest } from '../../errors.ts'
import { checkLabelValue, checkQualifiedName } from '../metadata/names.ts'

type Labels = Readonly<Record<string, string>>
type Operator = 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt'

interface Requirement {
  readonly key: string
  readonly operator: Operator
  readonly values: readonly string[]
}

/** Judges labels; undefined selects everything. */
export type LabelTest = (labels: Labels | undefined) => boolean

/** A label selector of a query. Refuses with the words of the real server, unlike the client's matcher. */
export function parseLabelSelector(text: string): LabelTest | undefined {
  const requirements = new Parser(text).parse()
  if (requirements.length === 0) return undefined
  return (labels) => {
    for (const requirement of requirements) if (!meets(requirement, labels)) return false
    return true
  }
}

function meets({ key, operator, values }: Requirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value)
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    default: {
      if (value === undefined || !/^[-+]?\d+$/.test(value)) return false
      const difference = BigInt(value.replace('+', '')) - BigInt(values[0] ?? '0')
      return operator === 'gt' ? difference > 0n : difference < 0n
    }
  }
}

const SPECIAL = new Set(['=', '!', '(', ')', '>', '<', ','])
const SIGNS = new Set(['=', '==', '!=', '!', '(', ')', '>', '<', ','])
const OPERATORS = 'in, notin, =, ==, !=, gt, lt'

interface Token {
  readonly type: 'word' | 'sign' | 'end' | 'error'
  readonly text: string
}

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(text: string) {
    this.#tokens = tokens(text)
  }

  parse(): readonly Requirement[] {
    const requirements: Requirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.type === 'end') return requirements
      if (token.type !== 'word' && token.text !== '!') {
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const after = this.#take()
      if (after.type === 'end') return requirements
      if (after.text !== ',' || after.type !== 'sign') {
        throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`)
      }
      const next = this.#peek()
      if (next.type !== 'word' && next.text !== '!') {
        throw badRequest(`found '${next.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): Requirement {
    let token = this.#take()
    const negated = token.type === 'sign' && token.text === '!'
    if (negated) token = this.#take()
    if (token.type !== 'word') throw unreadable(`found '${token.text}', expected: identifier`)
    const key = token.text
    const complaint = checkQualifiedName(key)[0]
    if (complaint !== undefined) throw unreadable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${complaint}`)
    const next = this.#peek()
    if (next.type === 'end' || (next.type === 'sign' && next.text === ',')) {
      return { key, operator: negated ? 'absent' : 'exists', values: [] }
    }
    // Right after a key these words are operators.
    if (negated) return { key, operator: 'absent', values: [] }
    const operator = this.#take()
    switch (operator.text) {
      case 'in':
        return checked(key, 'in', this.#values())
      case 'notin':
        return checked(key, 'notin', this.#values())
      case '=':
      case '==':
        return checked(key, 'in', [this.#exact()])
      case '!=':
        return checked(key, 'notin', [this.#exact()])
      case '>':
      case '<': {
        const value = this.#exact()
        if (!/^[-+]?\d{1,19}$/.test(value)) {
          throw unreadable(
            `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          )
        }
        return checked(key, operator.text === '>' ? 'gt' : 'lt', [value])
      }
      default:
        throw unreadable(`found '${operator.text}', expected: ${OPERATORS}`)
    }
  }

  #exact(): string {
    const next = this.#peek()
    if (next.type === 'end' || (next.type === 'sign' && next.text === ',')) return ''
    const token = this.#take()
    if (token.type === 'word') return token.text
    throw unreadable(`found '${token.text}', expected: identifier`)
  }

  #values(): string[] {
    const open = this.#take()
    if (open.text !== '(') throw unreadable(`found '${open.text}' expected: '('`)
    const values = new Set<string>()
    let expectsValue = true
    for (;;) {
      const token = this.#take()
      if (token.type === 'word' && expectsValue) {
        values.add(token.text)
        expectsValue = false
      } else if (token.type === 'sign' && token.text === ',') {
        if (expectsValue) values.add('')
        expectsValue = true
      } else if (token.type === 'sign' && token.text === ')') {
        if (expectsValue) values.add('')
        return [...values].toSorted()
      } else if (expectsValue) {
        throw unreadable(`found '${token.text}', expected: ',', ${values.size === 0 ? "')' or" : 'or'} identifier`)
      } else throw unreadable(`found '${token.text}', expected: ',' or ')'`)
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
}

const END: Token = { type: 'end', text: '' }

function tokens(text: string): readonly Token[] {
  const result: Token[] = []
  for (let at = 0; at < text.length;) {
    const letter = text.charAt(at)
    if (/[ \t\r\n]/.test(letter)) {
      at++
      continue
    }
    let end = at + 1
    if (SPECIAL.has(letter)) {
      // The longest sign that the letters make.
      while (end < text.length && SPECIAL.has(text.charAt(end)) && SIGNS.has(text.slice(at, end + 1))) end++
      result.push({ type: 'sign', text: text.slice(at, end) })
    } else {
      while (end < text.length && !SPECIAL.has(text.charAt(end)) && !/[ \t\r\n]/.test(text.charAt(end))) end++
      result.push({ type: 'word', text: text.slice(at, end) })
    }
    at = end
  }
  return result
}

function checked(key: string, operator: Operator, values: readonly string[]): Requirement {
  for (const [index, value] of values.entries()) {
    const complaint = checkLabelValue(value)[0]
    if (complaint !== undefined) {
      throw unreadable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${complaint}`)
    }
  }
  return { key, operator, values }
}

const unreadable = (why: string) => badRequest(`unable to parse requirement: ${why}`)
