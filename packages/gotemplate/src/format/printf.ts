/** `printf`: Go's format strings. */
import { GoInt } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { typeOf } from '../values/types.ts'
import { FormatFlags } from './flags.ts'
import { printArgument } from './printer.ts'

/** The largest width or precision that Go accepts. */
const MAX_NUMBER = 1_000_000

/** `allocate` is told the width and the precision of each verb before its text is made. Default: no check. */
export function printf(
  format: string,
  args: readonly GoValue[],
  allocate: (characters: number) => void = () => undefined,
): string {
  return format.includes('%') ? new Formatter(format, args, allocate).run() : format + extraArguments(args, 0)
}

class Formatter {
  readonly #format: string
  readonly #args: readonly GoValue[]
  readonly #allocate: (characters: number) => void
  #at = 0
  #next = 0
  #isReordered = false
  #isIndexGood = true
  #isAfterIndex = false
  #out = ''

  constructor(format: string, args: readonly GoValue[], allocate: (characters: number) => void) {
    this.#format = format
    this.#args = args
    this.#allocate = allocate
  }

  run(): string {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at)
      if (percent < 0) {
        this.#out += this.#format.slice(this.#at)
        break
      }
      this.#out += this.#format.slice(this.#at, percent)
      this.#at = percent + 1
      if (!this.#verb()) break
    }
    return this.#isReordered ? this.#out : this.#out + extraArguments(this.#args, this.#next)
  }

  /** Returns false at the end of the format. */
  #verb(): boolean {
    const flags = new FormatFlags()
    this.#isIndexGood = true
    this.#isAfterIndex = false
    this.#readFlags(flags)
    this.#argumentIndex()
    this.#readWidth(flags)
    this.#readPrecision(flags)
    if (!this.#isAfterIndex) this.#argumentIndex()
    if (this.#at >= this.#format.length) {
      this.#out += '%!(NOVERB)'
      return false
    }
    const verb = String.fromCodePoint(this.#format.codePointAt(this.#at) ?? 0)
    this.#at += verb.length
    if (verb === '%') this.#out += '%'
    else if (!this.#isIndexGood) this.#out += `%!${verb}(BADINDEX)`
    else if (this.#next >= this.#args.length) this.#out += `%!${verb}(MISSING)`
    else {
      // Digits of a float cost much more than characters.
      this.#allocate((flags.width ?? 0) + (flags.precision ?? 0) * 64)
      if (verb === 'v' || verb === 'w') {
        flags.sharpV = flags.sharp
        flags.plusV = flags.plus
        flags.sharp = flags.plus = false
      }
      this.#out += printArgument(this.#args[this.#next++], verb, flags)
    }
    return true
  }

  #readFlags(flags: FormatFlags): void {
    for (; this.#at < this.#format.length; this.#at++) {
      switch (this.#format[this.#at]) {
        case '#':
          flags.sharp = true
          break
        case '0':
          flags.zero = true
          break
        case '+':
          flags.plus = true
          break
        case '-':
          flags.minus = true
          break
        case ' ':
          flags.space = true
          break
        default:
          return
      }
    }
  }

  /** `[3]` chooses the third argument. */
  #argumentIndex(): void {
    this.#isAfterIndex = false
    if (this.#format[this.#at] !== '[') return
    this.#isReordered = true
    const rest = this.#format.slice(this.#at)
    const end = rest.indexOf(']')
    if (rest.length < 3 || end < 0) {
      this.#isIndexGood = false
      this.#at++
      return
    }
    this.#at += end + 1
    const text = rest.slice(1, end)
    const index = /^\d{1,7}$/.test(text) ? Number(text) - 1 : undefined
    if (index === undefined || index < 0 || index >= this.#args.length) {
      this.#isIndexGood = false
      this.#isAfterIndex = index !== undefined
      return
    }
    this.#next = index
    this.#isAfterIndex = true
  }

  #readWidth(flags: FormatFlags): void {
    if (this.#format[this.#at] === '*') {
      this.#at++
      const width = this.#integerArgument()
      if (width === undefined) this.#out += '%!(BADWIDTH)'
      else {
        flags.width = Math.abs(width)
        if (width < 0) {
          flags.minus = true
          flags.zero = false
        }
      }
      this.#isAfterIndex = false
      return
    }
    flags.width = this.#number()
    if (this.#isAfterIndex && flags.width !== undefined) this.#isIndexGood = false
  }

  #readPrecision(flags: FormatFlags): void {
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return
    this.#at++
    if (this.#isAfterIndex) this.#isIndexGood = false
    this.#argumentIndex()
    if (this.#format[this.#at] === '*') {
      this.#at++
      const precision = this.#integerArgument()
      if (precision === undefined || precision < 0) this.#out += '%!(BADPREC)'
      else flags.precision = precision
      this.#isAfterIndex = false
      return
    }
    flags.precision = this.#number() ?? 0
  }

  #number(): number | undefined {
    const digits = /^\d*/.exec(this.#format.slice(this.#at, this.#at + 9))?.[0] ?? ''
    if (digits === '') return undefined
    this.#at += digits.length
    // Go checks the number before it adds the last digit.
    if (Math.floor(Number(digits) / 10) <= MAX_NUMBER) return Number(digits)
    // Go gives up on the rest of the format.
    this.#at = this.#format.length
    return undefined
  }

  #integerArgument(): number | undefined {
    if (this.#next >= this.#args.length) return undefined
    const value = this.#args[this.#next++]
    if (!(value instanceof GoInt) || value.value > MAX_NUMBER || value.value < -MAX_NUMBER) return undefined
    return Number(value.value)
  }
}

function extraArguments(args: readonly GoValue[], from: number): string {
  if (from >= args.length) return ''
  const extra = args.slice(from).map((arg) => {
    if (arg === null || arg === undefined) return '<nil>'
    return `${typeOf(arg)}=${printArgument(arg, 'v', new FormatFlags())}`
  })
  return `%!(EXTRA ${extra.join(', ')})`
}
