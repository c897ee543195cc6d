import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTtl, MAX_TTL_MS, parseTtl } from './ttl.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MONTH = 30 * DAY
const YEAR = 365 * DAY

const accepted: readonly (readonly [string, number | 'forever'])[] = [
  // every unit
  ['1ns', 1],
  ['1us', 1],
  ['1\u00B5s', 1],
  ['1\u03BCs', 1],
  ['1ms', 1],
  ['1s', SECOND],
  ['1m', MINUTE],
  ['1h', HOUR],
  ['1d', DAY],
  ['1w', WEEK],
  ['1mo', MONTH],
  ['1mth', MONTH],
  ['1month', MONTH],
  ['1y', YEAR],
  // the seed's own
  ['2d', 2 * DAY],
  ['1h30m', 90 * MINUTE],
  ['5m', 5 * MINUTE],
  ['3h', 3 * HOUR],
  ['10s', 10 * SECOND],
  ['30m', 30 * MINUTE],
  ['60s', MINUTE],
  // the contract's own
  ['1w2d3h', WEEK + 2 * DAY + 3 * HOUR],
  [' 2d 4h ', 2 * DAY + 4 * HOUR],
  ['0.5mo', 15 * DAY],
  ['.5h', 30 * MINUTE],
  ['0s', 0],
  ['forever', 'forever'],
  ['Forever', 'forever'],
  ['FOREVER', 'forever'],
  [' forever ', 'forever'],
  // either case
  ['1NS', 1],
  ['1US', 1],
  ['1\u00B5S', 1],
  ['1MS', 1],
  ['1Ms', 1],
  ['1S', SECOND],
  ['1H', HOUR],
  ['1D', DAY],
  ['1W', WEEK],
  ['1MO', MONTH],
  ['1Mo', MONTH],
  ['1mO', MONTH],
  ['1MTH', MONTH],
  ['1Month', MONTH],
  ['1MONTH', MONTH],
  ['1Y', YEAR],
  ['1H30m', 90 * MINUTE],
  // white space, between and around
  ['\t1h\t', HOUR],
  ['\n1h\n', HOUR],
  ['1h\n30m', 90 * MINUTE],
  ['1h\t30m', 90 * MINUTE],
  ['1h\r\n30m', 90 * MINUTE],
  ['1h   30m', 90 * MINUTE],
  ['\f1h\v', HOUR],
  ['1w 2d\t3h\n4m 5s', WEEK + 2 * DAY + 3 * HOUR + 4 * MINUTE + 5 * SECOND],
  // fractions
  ['1.5h', 90 * MINUTE],
  ['0.5d', 12 * HOUR],
  ['.25d', 6 * HOUR],
  ['1.25m', 75 * SECOND],
  ['0.1s', 100],
  ['1.001s', 1_001],
  ['1.0001s', 1_001],
  ['0.0000001ms', 1],
  ['0.5ns', 1],
  ['0.5y', YEAR / 2],
  ['1.5w', 1.5 * WEEK],
  ['0.0h', 0],
  ['00.50h', 30 * MINUTE],
  // zero
  ['0h', 0],
  ['0ns', 0],
  ['0d0h', 0],
  ['000s', 0],
  // repeated, in any order
  ['1s1m1h', HOUR + MINUTE + SECOND],
  ['1m1m1m', 3 * MINUTE],
  ['30m1h', 90 * MINUTE],
  ['1y1mo1w1d1h1m1s1ms', YEAR + MONTH + WEEK + DAY + HOUR + MINUTE + SECOND + 1],
  ['1mo1m', MONTH + MINUTE],
  ['1m1mo', MONTH + MINUTE],
  ['1m1ms', MINUTE + 1],
  ['500us500us', 1],
  ['999999ns', 1],
  ['1000001ns', 2],
  // long ones
  ['007d', 7 * DAY],
  ['90m', 90 * MINUTE],
  ['1000h', 1_000 * HOUR],
  ['10000000s', 10_000_000 * SECOND],
  ['100y', 100 * YEAR],
  ['290y', 290 * YEAR],
  ['289y12mo5d', 290 * YEAR],
  ['105850d', 290 * YEAR],
  ['3480mo', 3_480 * MONTH],
]

const refused: readonly (readonly [string, RegExp])[] = [
  // nothing there
  ['', /it is empty/],
  [' ', /it is empty/],
  ['\t\n', /it is empty/],
  // no number, no unit
  ['abc', /"abc" is not a number with a unit/],
  ['10', /10 has no unit/],
  ['0', /0 has no unit/],
  ['1.5', /1\.5 has no unit/],
  ['10x', /"x" is not a unit; units are/],
  ['1h30', /30 has no unit/],
  ['1h 30', /30 has no unit/],
  ['h', /"h" is not a number/],
  ['.h', /"\.h" is not a number/],
  ['.', /"\." is not a number/],
  ['1.h', /1 has no unit/],
  ['1..5h', /1 has no unit/],
  ['1.2.3h', /1\.2 has no unit/],
  ['1,5h', /1 has no unit/],
  ['1_000s', /1 has no unit/],
  ['1e3s', /"e" is not a unit/],
  ['0x10s', /"x" is not a unit/],
  ['1h,30m', /is not a number with a unit/],
  ['1h and 30m', /"and 30m" is not a number/],
  // white space before the unit
  ['1 h', /white space between 1 and its unit; write 1h/],
  ['1\th', /white space between 1 and its unit/],
  ['2d 4 h', /white space between 4 and its unit; write 4h/],
  ['30 minutes', /white space between 30 and its unit; write 30m$/],
  ['1 hour 30 minutes', /write 1h$/],
  ['1 M', /capital M .* write m for minutes or mo for months/],
  ['1 x', /"x" is not a unit; units are/],
  ['300 years', /longer than 290 years; write forever/],
  // units that are none, with what was meant
  ['1min', /"min" is not a unit; write m for minutes/],
  ['5mins', /write m for minutes/],
  ['5minutes', /write m for minutes/],
  ['1hour', /"hour" is not a unit; write h/],
  ['2hours', /write h/],
  ['2hrs', /write h/],
  ['1sec', /write s/],
  ['30seconds', /write s/],
  ['1day', /write d/],
  ['2days', /write d/],
  ['1week', /write w/],
  ['2wks', /write w/],
  ['2months', /write mo/],
  ['3mos', /write mo/],
  ['1year', /write y/],
  ['2yrs', /write y/],
  ['1q', /"q" is not a unit/],
  ['1hm', /"hm" is not a unit/],
  ['1dd', /"dd" is not a unit/],
  // a capital M
  ['1M', /"1M": a capital M .* write m for minutes or mo for months/],
  ['1h1M', /capital M/],
  ['1M2d', /capital M/],
  ['2d 1M 3h', /capital M/],
  ['0.5M', /capital M/],
  // text around it
  ['in 2d', /"in 2d" is not a number/],
  ['2d left', /"left" is not a number/],
  ['ttl=1h', /is not a number/],
  ['1h!', /"!" is not a number/],
  ['"1h"', /is not a number/],
  ['PT1H', /is not a number/],
  ['P1D', /is not a number/],
  ['2026-06-11', /2026 has no unit/],
  ['2026-06-11T20:48:11Z', /2026 has no unit/],
  ['forever1h', /is not a number/],
  ['1hforever', /"hforever" is not a unit/],
  ['never', /is not a number/],
  ['null', /is not a number/],
  ['NaNh', /is not a number/],
  ['Infinityh', /is not a number/],
  // signs
  ['1h-30m', /"-30m" has a sign inside/],
  ['1h+30m', /"\+30m" has a sign inside/],
  ['1h -30m', /has a sign inside/],
  ['+3h', /begins with a sign/],
  ['-3h', /begins with a sign/],
  ['-0s', /begins with a sign/],
  ['- 3h', /begins with a sign/],
  ['--3h', /begins with a sign/],
  // other white space and other digits
  ['1h\u00A030m', /white space other than/],
  ['\u00A01h', /white space other than/],
  ['1\u2009h', /white space other than/],
  ['1h\u2028', /white space other than/],
  ['\uFEFF1h', /white space other than/],
  ['\u0661h', /is not a number/],
  ['\uFF11h', /is not a number/],
  ['1\u039Cs', /is not a unit/],
  ['1\u212A', /is not a unit/],
  ['1h\u0000', /is not a number/],
  ['1h\u200B', /is not a number/],
  ['\u{1F600}', /is not a number/],
  // too long
  ['290y1s', /longer than 290 years; write forever/],
  ['290y1ns', /longer than 290 years/],
  ['291y', /longer than 290 years/],
  ['300y', /longer than 290 years/],
  ['10000000000h', /longer than 290 years/],
  ['9223372036854775807ns1s', /longer than 290 years/],
  ['9223372036854775808ns', /longer than 290 years/],
  ['1e400s', /"e" is not a unit/],
  [`${'9'.repeat(200)}y`, /longer than 290 years/],
  ['1'.repeat(300), /too long to be a TTL/],
  ['1s'.repeat(129), /too long to be a TTL/],
]

/** The spellings that a reason suggests; a unit alone with a number. */
function suggestionsIn(reason: string): readonly string[] {
  const [, text = ''] = /; (?:write|units are) (?:numbers with units, such as )?(.*)$/.exec(reason) ?? []
  return text
    .replace(/ instead$/, '')
    .split(/, | or | and /)
    .map((each) => each.replace(/ for \w+$/, ''))
    .filter((each) => each !== '')
    .map((each) => (/^\d|forever|^\./.test(each) ? each : `1${each}`))
}

describe('parseTtl', () => {
  test.each(accepted)('the TTL %j means %s ms', (text, milliseconds) => {
    expect(parseTtl(text)).toEqual({ ok: true, milliseconds })
  })

  test.each(refused)('the TTL %j is refused', (text, reason) => {
    const ttl = parseTtl(text)
    expect(ttl).toMatchObject({ ok: false })
    expect(ttl.ok || ttl.reason).toMatch(reason)
  })

  test('every suggestion is valid itself', () => {
    const digits = fc.constantFrom('1', '30', '1.5', '.5', '291', '5000000000000')
    const white = fc.constantFrom('', ' ', '\t', '\n', '  ')
    const written = refused.map(([text]) => text.replaceAll(/[\d.\s]/g, '')).filter((word) => word !== '')
    const words = fc.constantFrom('minutes', 'Minutes', 'MINUTES', 'hours', 'M', 'year', 'years', 'x', 'µs', ...written)
    const part = fc.tuple(digits, white, words).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), white, (parts, between) => {
        const ttl = parseTtl(parts.join(between))
        const suggested = ttl.ok ? [] : suggestionsIn(ttl.reason)
        expect(suggested.filter((text) => !parseTtl(text).ok)).toEqual([])
      }),
      { numRuns: 2_000 },
    )
    const all = refused.flatMap(([text]) => {
      const ttl = parseTtl(text)
      return ttl.ok ? [] : suggestionsIn(ttl.reason)
    })
    expect(all.length).toBeGreaterThan(40)
    expect(all.filter((text) => !parseTtl(text).ok)).toEqual([])
  })

  test('the tables cover many spellings', () => {
    expect(new Set([...accepted, ...refused].map(([text]) => text)).size).toBeGreaterThanOrEqual(120)
  })

  test('a formatted TTL is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_TTL_MS }), (milliseconds) => {
        expect(parseTtl(formatTtl(milliseconds))).toEqual({ ok: true, milliseconds })
      }),
    )
    expect(parseTtl(formatTtl('forever'))).toEqual({ ok: true, milliseconds: 'forever' })
  })

  const unit = fc.constantFrom(
    'ns',
    'us',
    '\u00B5s',
    '\u03BCs',
    'ms',
    's',
    'm',
    'h',
    'd',
    'w',
    'mo',
    'mth',
    'month',
    'y',
  )
  const number = fc.oneof(
    fc.nat(10_000).map(String),
    fc.tuple(fc.nat(100), fc.nat(99_999)).map(([whole, fraction]) => `${whole}.${fraction}`),
    fc.nat(999).map((fraction) => `.${fraction}`),
  )
  const gap = fc.constantFrom('', '', ' ', '\t', '\n ')
  const inGrammar = fc
    .array(fc.tuple(gap, number, unit), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.map(([before, value, name]) => before + value + name).join(''))

  test('every text of the grammar is read, never negative and never above the maximum', () => {
    fc.assert(
      fc.property(inGrammar, gap, (text, after) => {
        const ttl = parseTtl(text + after)
        expect(ttl).toSatisfy((read: typeof ttl) => {
          if (!read.ok) return read.reason.includes('longer than 290 years')
          const value = Number(read.milliseconds)
          return Number.isSafeInteger(value) && value >= 0 && value <= MAX_TTL_MS
        })
      }),
      { numRuns: 500 },
    )
  })

  test('the parts of a TTL add up', () => {
    fc.assert(
      fc.property(inGrammar, inGrammar, (a, b) => {
        const [first, second, both] = [parseTtl(a), parseTtl(b), parseTtl(`${a} ${b}`)]
        fc.pre(first.ok && second.ok && both.ok)
        if (!first.ok || !second.ok || !both.ok) return
        const sum = Number(first.milliseconds) + Number(second.milliseconds)
        // Each part alone is rounded up to a millisecond.
        expect(Number(both.milliseconds)).toBeLessThanOrEqual(sum)
        expect(Number(both.milliseconds)).toBeGreaterThanOrEqual(sum - 1)
      }),
    )
  })

  /** The grammar, written down a second time and in another way. */
  const GRAMMAR =
    /^[ \t\n\r\f\v]*(?:(?:\d+(?:\.\d+)?|\.\d+)(?:ns|us|\u00B5s|\u03BCs|ms|s|m|h|d|w|mo|mth|month|y)[ \t\n\r\f\v]*)+$/
  const isInGrammar = (text: string): boolean =>
    // A capital M alone is refused; other capitals are read as lower case.
    !/[\d.]M(?![a-zA-Z\p{L}\p{M}])/u.test(text) &&
    GRAMMAR.test(text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()))

  const nearly = fc
    .array(fc.constantFrom(...Array.from('0123456789.smhdwyoMnutSHD\u00B5\u03BC -+\t\n\u00A0x')), { maxLength: 10 })
    .map((characters) => characters.join(''))

  test('exactly the texts of the grammar are accepted', () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const ttl = parseTtl(text)
        const isForever = /^[ \t\n\r\f\v]*forever[ \t\n\r\f\v]*$/i.test(text)
        const isValid = isInGrammar(text) || isForever
        // `80000 w` is not in the grammar, but its reason may say so, too.
        const isTooLong = isValid && !ttl.ok && ttl.reason.includes('290 years')
        expect(ttl.ok || isTooLong).toBe(isValid)
      }),
      { numRuns: 5_000, examples: [['80000\nw'], ['80000 w']] },
    )
  })

  test('a refusal has a reason in one line', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        const ttl = parseTtl(text)
        expect(ttl.ok ? 'it is read' : ttl.reason).toMatch(/^[^\n]{5,300}$/)
      }),
    )
  })
})

test('formatTtl rounds up and is never negative', () => {
  expect(formatTtl(-5)).toBe('0s')
  expect(formatTtl(1.2)).toBe('2ms')
  expect(formatTtl(WEEK + 2 * DAY + 3 * HOUR)).toBe('1w2d3h')
  expect(formatTtl(90 * MINUTE)).toBe('1h30m')
})
