/** sprig's regular expressions, with the syntax and the linear time of RE2. */
import { RE2JS } from 're2js'

import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { normalize } from '../values/bytes.ts'
import { stringList } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { alias, fn } from './define.ts'

/** Compiled patterns, the oldest first. */
const cache = new Map<string, RE2JS | string>()
const MAX_CACHED = 500
/** Go refuses larger ones too. */
const MAX_PATTERN_LENGTH = 10_000
/** The work of compiling a pattern, in units of the work of a search. */
const WORK_PER_PATTERN = 1000
const WORK_PER_INSTRUCTION = 100

/** The pattern, or Go's message if it is malformed. */
function compiled(pattern: string, context: FunctionContext): RE2JS | string {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  if (pattern.length > MAX_PATTERN_LENGTH) return 'error parsing regexp: expression too large'
  let result: RE2JS | string
  context.spendOnRegexp(WORK_PER_PATTERN + pattern.length)
  try {
    result = RE2JS.compile(pattern)
    context.spendOnRegexp(result.programSize() * WORK_PER_INSTRUCTION)
  } catch (error) {
    const { message } = error as Error
    // Go shows the empty rest of the pattern here.
    result = message.endsWith('end of expression') ? `${message}: \`\`` : message
  }
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? '')
  cache.set(pattern, result)
  return result
}

/** A matcher of a text. One search through all of it costs at most what is spent here. */
function matcherOf(regexp: RE2JS, text: string, context: FunctionContext): ReturnType<RE2JS['matcher']> {
  context.spendOnRegexp(text.length * regexp.programSize())
  return regexp.matcher(text)
}

interface Match {
  readonly start: number
  readonly end: number
  readonly groups: readonly (string | undefined)[]
}

/** Non-overlapping matches; an empty match right after another one does not count. */
function* matches(regexp: RE2JS, text: string, context: FunctionContext): Generator<Match> {
  const matcher = matcherOf(regexp, text, context)
  let from = 0
  let lastEnd = -1
  while (from <= text.length && matcher.find(from)) {
    // A search may look far ahead for a longer match in vain, and the next one again.
    context.checkTime()
    const [start, end] = [matcher.start(), matcher.end()]
    if (start !== end || start !== lastEnd) {
      const groups = Array.from(
        { length: matcher.groupCount() + 1 },
        (_unused, index) => matcher.group(index) ?? undefined,
      )
      yield { start, end, groups }
      lastEnd = end
    }
    if (end > start) from = end
    else from = end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1)
  }
}

function findAll(regexp: RE2JS, text: string, limit: number, context: FunctionContext): GoValue {
  const found: string[] = []
  for (const { start, end } of matches(regexp, text, context)) {
    if (limit >= 0 && found.length >= limit) break
    found.push(text.slice(start, end))
  }
  return stringList(found.length === 0 ? null : found)
}

function replaceAll(
  regexp: RE2JS,
  text: string,
  replacement: (match: Match) => string,
  context: FunctionContext,
): string {
  let out = ''
  let at = 0
  for (const match of matches(regexp, text, context)) {
    const replaced = replacement(match)
    context.allocate(match.start - at + replaced.length)
    out += text.slice(at, match.start) + replaced
    at = match.end
  }
  return out + text.slice(at)
}

/** Replaces `$1`, `${1}`, `$name` and `$$` in a template. */
function expand(template: string, { groups }: Match, names: ReadonlyMap<string, number>): string {
  return template.replaceAll(
    /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu,
    (all, braced?: string, bare?: string) => {
      if (all === '$$') return '$'
      const name = braced ?? bare ?? ''
      const index = /^\d+$/.test(name) ? Number(name) : names.get(name)
      return index === undefined ? '' : (groups[index] ?? '')
    },
  )
}

function split(regexp: RE2JS, pattern: string, text: string, limit: number, context: FunctionContext): GoValue {
  if (limit === 0) return stringList(null)
  if (pattern !== '' && text === '') return stringList([''])
  const parts: string[] = []
  let [begin, end] = [0, 0]
  for (const match of matches(regexp, text, context)) {
    if (limit > 0 && parts.length === limit - 1) break
    end = match.start
    if (match.end !== 0) parts.push(text.slice(begin, end))
    begin = match.end
  }
  if (end !== text.length) parts.push(text.slice(begin))
  return stringList(parts)
}

const SPECIAL = /[\\.+*?()|[\]{}^$]/g

type RegexpCall = (regexp: RE2JS, args: readonly GoValue[], context: FunctionContext) => GoValue

/** The function and its `must` variant, which reports a bad pattern in other words. */
function withMust(base: GoFunction, call: RegexpCall): readonly GoFunction[] {
  const make = (name: string, isMust: boolean): GoFunction => ({
    ...base,
    name,
    call: (args, context) => {
      const pattern = text(args[0])
      const regexp = compiled(pattern, context)
      if (typeof regexp !== 'string') return call(regexp, args, context)
      if (isMust) throw new FunctionError(regexp)
      const quoted = /[`]/.test(pattern) ? JSON.stringify(pattern) : `\`${pattern}\``
      throw new FunctionError(`regexp: Compile(${quoted}): ${regexp}`)
    },
  })
  return [make(base.name, false), make(`must${base.name.charAt(0).toUpperCase()}${base.name.slice(1)}`, true)]
}

const text = (value: GoValue): string => normalize(typeof value === 'string' ? value : '')

const matchFunction = fn('regexMatch', ['string', 'string'], ([pattern, subject], context) => {
  const regexp = compiled(normalize(pattern), context)
  return typeof regexp === 'string' ? false : matcherOf(regexp, normalize(subject), context).find()
})

const mustMatch = fn('mustRegexMatch', ['string', 'string'], ([pattern, subject], context) => {
  const regexp = compiled(normalize(pattern), context)
  if (typeof regexp === 'string') throw new FunctionError(regexp)
  return matcherOf(regexp, normalize(subject), context).find()
})

const STRING_2 = fn('regexFind', ['string', 'string'], () => null)
const STRING_2_INT = fn('regexFindAll', ['string', 'string', 'int'], () => null)
const STRING_3 = fn('regexReplaceAll', ['string', 'string', 'string'], () => null)

const count = (value: GoValue): number => Number((value as { readonly value: bigint }).value)

export const regexpFunctions: readonly GoFunction[] = [
  matchFunction,
  mustMatch,
  ...withMust(STRING_2, (regexp, args, context) => {
    const subject = text(args[1])
    for (const { start, end } of matches(regexp, subject, context)) return subject.slice(start, end)
    return ''
  }),
  ...withMust(STRING_2_INT, (regexp, args, context) => findAll(regexp, text(args[1]), count(args[2]), context)),
  ...withMust(STRING_3, (regexp, args, context) => {
    const names = new Map(Object.entries(regexp.namedGroups()))
    const template = text(args[2])
    return replaceAll(regexp, text(args[1]), (match) => expand(template, match, names), context)
  }),
  ...withMust(alias('regexReplaceAllLiteral', STRING_3), (regexp, args, context) => {
    const literal = text(args[2])
    return replaceAll(regexp, text(args[1]), () => literal, context)
  }),
  ...withMust(alias('regexSplit', STRING_2_INT), (regexp, args, context) =>
    split(regexp, text(args[0]), text(args[1]), count(args[2]), context),
  ),
  fn('regexQuoteMeta', ['string'], ([subject]) => subject.replaceAll(SPECIAL, String.raw`\$&`)),
]
