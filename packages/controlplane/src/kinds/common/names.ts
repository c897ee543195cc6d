import type { NameRule } from '@tenure/kube/model'
import { maxLengthError, regexError } from '@tenure/kube/model'

const NONE: readonly string[] = []

const CONFIG_KEY = '[-._a-zA-Z0-9]+'
const PERCENT = '[0-9]+%'
const HEADER = '[-A-Za-z0-9]+'

const configKey = new RegExp(`^${CONFIG_KEY}$`)
const percent = new RegExp(`^${PERCENT}$`)
const header = new RegExp(`^${HEADER}$`)

export const mustBeBetween = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`

export const configMapKey: NameRule = (value) => {
  if (value.length <= 253 && configKey.test(value) && !value.startsWith('.')) return NONE
  const errors: string[] = []
  if (value.length > 253) errors.push(maxLengthError(253))
  if (!configKey.test(value)) {
    errors.push(
      regexError(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        CONFIG_KEY,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    )
  }
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`)
  else if (value.startsWith('..')) errors.push(`must not start with '..'`)
  return errors
}

export const envName: NameRule = (value) =>
  // oxlint-disable-next-line no-control-regex
  /^[\x20-\x7e]*$/.test(value) && !value.includes('=')
    ? NONE
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]

export const portName: NameRule = (value) => {
  const errors: string[] = []
  if (value.length > 15) errors.push(maxLengthError(15))
  if (!/^[-a-z0-9]+$/.test(value)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

export const portNumber = (value: number): readonly string[] =>
  value >= 1 && value <= 65_535 ? NONE : [mustBeBetween(1, 65_535)]

export const percentage: NameRule = (value) =>
  percent.test(value)
    ? NONE
    : [regexError("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%')]

export const headerName: NameRule = (value) =>
  header.test(value)
    ? NONE
    : [regexError("a valid HTTP header must consist of alphanumeric characters or '-'", HEADER, 'X-Header-Name')]
