/** Chooses the style of a string. */
import { isResolvedAsString } from '../read/resolve.ts'

export type ScalarStyle = 'plain' | 'single-quoted' | 'double-quoted' | 'literal'

// Most strings are of this form, in which no other rule finds anything.
const HARMLESS = /^[A-Za-z0-9_/.][A-Za-z0-9_/.()=+;$^~<@-]*(?: [A-Za-z0-9_/.()=+;$^~<@-]+)*$/

// The insides of character classes.
const BREAKS = '\\n\\r\\u0085\\u2028\\u2029'
const PRINTABLE = '\\t\\n\\x20-\\x7E\\u00A0-\\uD7FF\\uE000-\\uFEFE\\uFF00-\\uFFFD'

/** Only double quotes can express these. */
const NOT_PRINTABLE = new RegExp(`[^${PRINTABLE}]| [${BREAKS}]`, 'u')
const BREAK_THEN_SPACE = new RegExp(`[${BREAKS}] `)

const DOCUMENT_MARK = '^(?:---|\\.\\.\\.)'
/** A string without quotes must not have these. */
const NEEDS_QUOTES = new RegExp(
  [
    `[${BREAKS}]`,
    '^ | $',
    DOCUMENT_MARK,
    '^[#,[\\]{}&*!|>\'"%@`]',
    '^[-?:](?:[ \\t]|$)',
    '.:(?:[ \\t]|$)',
    '[ \\t]#',
  ].join('|'),
  's',
)
const IS_DOCUMENT_MARK = new RegExp(DOCUMENT_MARK)

/** `areTabsLiteral`: the literal style may have tabs, as in go-yaml 3. */
export function scalarStyle(text: string, areTabsLiteral: boolean): ScalarStyle {
  if (HARMLESS.test(text) && !IS_DOCUMENT_MARK.test(text)) return isResolvedAsString(text) ? 'plain' : 'double-quoted'
  if (NOT_PRINTABLE.test(text)) return 'double-quoted'
  const isMultiline = text.includes('\n')
  if (text.includes('\t') && !(isMultiline && areTabsLiteral)) return 'double-quoted'
  if (isMultiline) return text.endsWith(' ') ? 'double-quoted' : 'literal'
  if (!isResolvedAsString(text)) return 'double-quoted'
  if (!NEEDS_QUOTES.test(text)) return 'plain'
  return BREAK_THEN_SPACE.test(text) ? 'double-quoted' : 'single-quoted'
}
