/** Finds out which styles can express a string. */

export interface ScalarAnalysis {
  readonly isMultiline: boolean
  readonly isPlainAllowed: boolean
  readonly isSingleQuotedAllowed: boolean
  readonly isBlockAllowed: boolean
}

const EMPTY: ScalarAnalysis = {
  isMultiline: false,
  isPlainAllowed: true,
  isSingleQuotedAllowed: true,
  isBlockAllowed: false,
}

// Most strings; the rest of the analysis finds nothing in them.
const HARMLESS = /^[A-Za-z0-9_/.][A-Za-z0-9_/.()=+;$^~<@-]*(?: [A-Za-z0-9_/.()=+;$^~<@-]+)*$/
const DOCUMENT_MARK = /^(?:---|\.\.\.)/
const FIRST_INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|[?:](?:[ \t]|$)|-(?:[ \t]|$))/
const LATER_INDICATOR = /.:(?:[ \t]|$)|[ \t\n\r\u0085\u2028\u2029]#/s
const BREAK = /[\n\r\u0085\u2028\u2029]/
/** The inside of a character class. */
const PRINTABLE = '\\n\\x20-\\x7E\\u00A0-\\uD7FF\\uE000-\\uFEFE\\uFF00-\\uFFFD'
const SPECIAL = new RegExp(`[^${PRINTABLE}]`, 'u')
const SPECIAL_EXCEPT_TAB = new RegExp(`[^\\t${PRINTABLE}]`, 'u')
const EDGE = /^[ \n\r\u0085\u2028\u2029]|[ \n\r\u0085\u2028\u2029]$/
const BREAK_THEN_SPACE = /[\n\r\u0085\u2028\u2029] /
const SPACE_THEN_BREAK = / [\n\r\u0085\u2028\u2029]/

/** `isTabAllowed`: block styles may contain tabs, as in go-yaml 3. */
export function analyzeScalar(text: string, isTabAllowed: boolean): ScalarAnalysis {
  if (text === '') return EMPTY
  if (HARMLESS.test(text) && !DOCUMENT_MARK.test(text)) return { ...EMPTY, isBlockAllowed: true }
  const isMultiline = BREAK.test(text)
  const hasSpaceBreak = SPACE_THEN_BREAK.test(text)
  const hasTab = isTabAllowed && text.includes('\t')
  const isSpecial = (isTabAllowed ? SPECIAL_EXCEPT_TAB : SPECIAL).test(text)
  const hasBreakSpace = BREAK_THEN_SPACE.test(text)
  const isQuotedOnly = hasSpaceBreak || isSpecial
  return {
    isMultiline,
    isPlainAllowed:
      !isMultiline &&
      !isQuotedOnly &&
      !hasTab &&
      !EDGE.test(text) &&
      !DOCUMENT_MARK.test(text) &&
      !FIRST_INDICATOR.test(text) &&
      !LATER_INDICATOR.test(text),
    isSingleQuotedAllowed: !hasBreakSpace && !isQuotedOnly && !hasTab,
    isBlockAllowed: !text.endsWith(' ') && !isQuotedOnly,
  }
}
