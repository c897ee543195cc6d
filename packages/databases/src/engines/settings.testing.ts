import fc from 'fast-check'

/** Readers of configuration files, written from the engines' documentation and sources, to check what a server reads. */
export type SettingLine = readonly [name: string, ...args: readonly string[]]

/** As src/backend/utils/misc/guc-file.l: one `name = value` per line; in quotes `\` escapes and `''` is a quote. */
export function readPostgresqlFile(text: string): readonly SettingLine[] {
  return text.split(/\r\n|\n|\r/).flatMap((line): readonly SettingLine[] => {
    const match = /^\s*([A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)?)\s*=?\s*('(?:[^'\\]|\\.|'')*'|[^\s#']+)\s*(?:#.*)?$/.exec(
      line,
    )
    if (!match) {
      if (/^\s*(?:#.*)?$/.test(line)) return []
      throw new Error(`PostgreSQL refuses the line ${line}`)
    }
    const [, name = '', value = ''] = match
    return [
      [name, value.startsWith("'") ? value.slice(1, -1).replaceAll(/\\(.)|''/g, (_, char) => char ?? "'") : value],
    ]
  })
}

/** As mysys/my_default.c: lines of at most 4096 bytes, comments outside quotes, one level of escapes. */
export function readMariadbFile(text: string): readonly SettingLine[] {
  const lines = text.split('\n').flatMap((line) => {
    const bytes = Buffer.from(line)
    return Array.from({ length: Math.floor(bytes.length / 4095) + 1 }, (_, index) =>
      bytes.subarray(index * 4095, (index + 1) * 4095).toString(),
    )
  })
  return lines.flatMap((raw): readonly SettingLine[] => {
    const line = withoutMariadbComment(raw).trim()
    if (line === '' || line.startsWith(';') || line.startsWith('[')) return []
    if (line.startsWith('!')) return [['!', line]]
    const equals = line.indexOf('=')
    if (equals < 0) return [[line]]
    let value = line.slice(equals + 1).trim()
    const first = value[0]
    if ((first === '"' || first === "'") && value.length > 1 && value.endsWith(first)) value = value.slice(1, -1)
    const escapes: Readonly<Record<string, string>> = {
      n: '\n',
      t: '\t',
      r: '\r',
      b: '\b',
      s: ' ',
      '"': '"',
      "'": "'",
      '\\': '\\',
    }
    return [[line.slice(0, equals).trim(), value.replaceAll(/\\(.)/g, (all, char: string) => escapes[char] ?? all)]]
  })
}

function withoutMariadbComment(line: string): string {
  let quote = ''
  let isEscaped = false
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index)
    if ((char === "'" || char === '"') && !isEscaped) {
      if (quote === '') quote = char
      else if (quote === char) quote = ''
    }
    if (quote === '' && char === '#') return line.slice(0, index)
    isEscaped = quote !== '' && char === '\\' && !isEscaped
  }
  return line
}

/** As sds.c's sdssplitargs: arguments in double quotes with escapes, in single quotes, or bare. */
export function readRedisFile(text: string): readonly SettingLine[] {
  return text.split('\n').flatMap((raw): readonly SettingLine[] => {
    const line = raw.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
    if (line === '' || line.startsWith('#')) return []
    const args: string[] = []
    let rest = line
    while (rest !== '') {
      const match = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"']+))(?:\s+|$)/s.exec(rest)
      if (!match) throw new Error(`Redis refuses the line ${line}`)
      const [all, double, single, bare = ''] = match
      args.push(double?.replaceAll(/\\(.)/gs, '$1') ?? single ?? bare)
      rest = rest.slice(all.length)
    }
    const [name = '', ...values] = args
    return [[name, ...values]]
  })
}

const PARTS = [
  "'",
  '"',
  '\\',
  '#',
  ';',
  '=',
  '!',
  '$',
  '`',
  '$(id)',
  '%',
  '\n',
  '\r',
  '\0',
  '\u2028',
  '${HOME}',
  '{{',
  '}}',
  ': ',
  '- ',
  '---',
  "''",
  "\\'",
  '\\"',
  '\\\\',
  '\\n',
  '\\x0a',
  ' ',
  '\t',
  'ä',
  '😀',
  'port = 1',
  'requirepass x',
  '!include /etc/passwd',
  '[mysqld]',
] as const

/** Texts that try to leave their place. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...PARTS), fc.string({ maxLength: 4 })), { maxLength: 12 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
)
