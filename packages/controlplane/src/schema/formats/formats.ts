import { parseAddress, parseNetwork } from './addresses.ts'

/** The formats that kube-apiserver validates in custom resources; it ignores all others. */

type Check = (text: string) => boolean

const matching =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text)

const HOST =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const LONG_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && parseAddress(text, { allowLeadingZeros: true }) !== undefined],
  ['ipv6', (text) => text.includes(':') && parseAddress(text) !== undefined],
  ['cidr', (text) => parseNetwork(text, { allowLeadingZeros: true }) !== undefined],
  ['mac', isMac],
  ['uuid', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  [
    'rgbcolor',
    matching(
      /^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/,
    ),
  ],
  ['byte', matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ['k8slongname', (text) => text.length <= 253 && LONG_NAME.test(text)],
])

/** Returns the check of a string format, or undefined if kube-apiserver does not know it. */
export function stringFormat(format: string): Check | undefined {
  return CHECKS.get(format.replaceAll('-', ''))
}

/** Returns whether kube-apiserver knows the format for this type. */
export function isKnownFormat(type: string | undefined, format: string): boolean {
  switch (type) {
    case undefined:
    case 'string':
      return stringFormat(format) !== undefined
    case 'integer':
      return format === 'int32' || format === 'int64'
    case 'number':
      return format === 'float' || format === 'double'
    default:
      return false
  }
}

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!match) return false
  const [, year, month, day] = match.map(Number)
  return isDay(year ?? 0, month ?? 0, day ?? 0)
}

export function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return day <= days
}

export function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t')
  if (time === undefined || !isDate(date)) return false
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time)
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59
}

const GO_DURATION = /^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/
const UNIT = /^(ns|nano\w*|us|µs|micro\w*|ms|milli\w*|s|sec\w*|m|min\w*|h|hr|hour\w*|d|day\w*|w|wk|week\w*)$/i

export function isDuration(text: string): boolean {
  if (/^[-+]?0$/.test(text) || GO_DURATION.test(text)) return true
  for (const [, , unit = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) if (UNIT.test(unit)) return true
  return false
}

function isHostname(text: string): boolean {
  if (!HOST.test(text) || Buffer.byteLength(text) > 255) return false
  return text.split('.').every((part) => Buffer.byteLength(part) <= 63)
}

function isRequestUri(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  if (text === '' || /[\u0000-\u0020\u007f]/.test(text.replaceAll(' ', ''))) return false
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return false
  if (text.startsWith('/') || text === '*') return true
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:(.*)$/s.exec(text)
  if (!scheme) return false
  const rest = scheme[1] ?? ''
  if (!rest.startsWith('//')) return rest !== '' || true
  const authority = /^\/\/([^/?#]*)/.exec(rest)?.[1] ?? ''
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return host.startsWith('[') ? /^\[[0-9A-Fa-f:.%]+\](:\d*)?$/.test(host) : /^[^\s<>"{}|\\^`:]*(:\d*)?$/.test(host)
}

/** Accepts a bare address or `Name <address>`: RFC 5322 without comments. */
function isEmail(text: string): boolean {
  const angled = /^(?:"(?:[^"\\]|\\.)*"|[^<>"@,;]*)\s*<([^<>]+)>\s*$/.exec(text)
  const address = (angled?.[1] ?? text).trim()
  const at = address.lastIndexOf('@')
  if (at < 1) return false
  const local = address.slice(0, at)
  const domain = address.slice(at + 1)
  const atoms = /^[^\s()<>[\]:;@\\,."]+(\.[^\s()<>[\]:;@\\,."]+)*$/
  return (atoms.test(local) || /^"(?:[^"\\]|\\.)*"$/.test(local)) && (atoms.test(domain) || /^\[.+\]$/.test(domain))
}

function isMac(text: string): boolean {
  return (
    /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){4}((\1[0-9a-f]{2}){2}|(\1[0-9a-f]{2}){14})?$/i.test(text) ||
    /^[0-9a-f]{4}\.[0-9a-f]{4}(\.[0-9a-f]{4}){1}((\.[0-9a-f]{4}){1}|(\.[0-9a-f]{4}){7})?$/i.test(text)
  )
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let index = 0; index < 10; index += 1) {
    const digit = digits.charAt(index)
    sum += (index + 1) * (digit === 'X' ? 10 : Number(digit))
  }
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let index = 0; index < 12; index += 1) sum += (index % 2 === 0 ? 1 : 3) * Number(digits.charAt(index))
  return Number(digits.charAt(12)) === (10 - (sum % 10)) % 10
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!CARD.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits.charAt(digits.length - 1 - index)) * (index % 2 === 0 ? 1 : 2)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}
