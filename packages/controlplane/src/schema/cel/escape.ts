const RESERVED = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])

const SIGNS: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** Escapes a property name for rules: `x-y` becomes `x__dash__y`. Undefined for names that rules cannot access. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  if (RESERVED.has(name)) return `__${name}__`
  return name.replace(/__|[./-]/g, (sign) => SIGNS[sign] ?? sign)
}
