/** sprig's functions on URLs, as Go's net/url reads and writes them. */
import { quote } from '../format/quote.ts'
import { fromBytes, toBytes } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'
import { kindOf } from '../values/types.ts'
import type { GoMap, GoValue } from '../values/values.ts'
import { fn } from './define.ts'

type Part = 'path' | 'userinfo' | 'fragment' | 'query' | 'host'

const UNESCAPED: Readonly<Record<Part, RegExp>> = {
  path: /^[A-Za-z0-9\-_.~$&+,/:;=@]$/,
  userinfo: /^[A-Za-z0-9\-_.~$&+,;=]$/,
  fragment: /^[A-Za-z0-9\-_.~$&+,/:;=?@!()*]$/,
  query: /^[A-Za-z0-9\-_.~]$/,
  host: /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]$/,
}

function escape(text: string, part: Part): string {
  let out = ''
  for (const byte of toBytes(text)) {
    const character = String.fromCharCode(byte)
    if (byte < 128 && UNESCAPED[part].test(character)) out += character
    else if (part === 'query' && character === ' ') out += '+'
    else out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** As url.QueryEscape. */
export const queryEscape = (text: string): string => escape(text, 'query')

class UrlProblem extends Error {}

function unescape(text: string, part: Part): string {
  const bytes = toBytes(text)
  const out: number[] = []
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    if (byte !== 37) {
      if (part === 'host' && byte < 128 && !UNESCAPED.host.test(String.fromCharCode(byte))) {
        throw new UrlProblem(`invalid character ${quote(String.fromCharCode(byte))} in host name`)
      }
      out.push(byte)
      continue
    }
    const digits = bytes.toString('latin1', index + 1, index + 3)
    if (!/^[\da-fA-F]{2}$/.test(digits)) {
      throw new UrlProblem(`invalid URL escape ${quote(fromBytes(bytes.subarray(index, index + 3)))}`)
    }
    out.push(Number.parseInt(digits, 16))
    index += 2
  }
  return fromBytes(Buffer.from(out))
}

interface Url {
  readonly scheme: string
  readonly opaque: string
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined
  readonly host: string
  readonly path: string
  readonly rawPath: string
  readonly query: string
  readonly hasQuery: boolean
  readonly fragment: string
}

export function parseUrl(text: string): Url {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof UrlProblem)) throw error
    throw new FunctionError(`unable to parse url: parse ${quote(text)}: ${error.message}`)
  }
}

function parse(text: string): Url {
  const hash = text.indexOf('#')
  const beforeHash = hash < 0 ? text : text.slice(0, hash)
  const fragment = hash < 0 ? '' : unescape(text.slice(hash + 1), 'fragment')
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1F\x7F]/.test(beforeHash)) throw new UrlProblem('net/url: invalid control character in URL')
  const empty = { scheme: '', opaque: '', user: undefined, host: '', path: '', rawPath: '', query: '', hasQuery: false }
  if (beforeHash === '*') return { ...empty, path: '*', fragment }
  const { scheme, rest: afterScheme } = splitScheme(beforeHash)
  const question = afterScheme.indexOf('?')
  const query = question < 0 ? '' : afterScheme.slice(question + 1)
  let rest = question < 0 ? afterScheme : afterScheme.slice(0, question)
  const found = { ...empty, scheme: scheme.toLowerCase(), query, hasQuery: question >= 0 && query === '', fragment }
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...found, opaque: rest }
    const [segment = ''] = rest.split('/')
    if (segment.includes(':')) throw new UrlProblem('first path segment in URL cannot contain colon')
  }
  let authority: { readonly user: Url['user']; readonly host: string } = { user: undefined, host: '' }
  if ((scheme !== '' || !rest.startsWith('///')) && rest.startsWith('//')) {
    const end = rest.indexOf('/', 2)
    authority = parseAuthority(end < 0 ? rest.slice(2) : rest.slice(2, end))
    rest = end < 0 ? '' : rest.slice(end)
  }
  const path = unescape(rest, 'path')
  return { ...found, ...authority, path, rawPath: escape(path, 'path') === rest ? '' : rest }
}

function splitScheme(text: string): { readonly scheme: string; readonly rest: string } {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)
  if (match) return { scheme: match[1] ?? '', rest: text.slice(match[0].length) }
  if (text.startsWith(':')) throw new UrlProblem('missing protocol scheme')
  return { scheme: '', rest: text }
}

function parseAuthority(text: string): { readonly user: Url['user']; readonly host: string } {
  const at = text.lastIndexOf('@')
  const host = parseHost(at < 0 ? text : text.slice(at + 1))
  if (at < 0) return { user: undefined, host }
  const info = text.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(info)) throw new UrlProblem('net/url: invalid userinfo')
  const colon = info.indexOf(':')
  const name = unescape(colon < 0 ? info : info.slice(0, colon), 'userinfo')
  return { user: { name, password: colon < 0 ? undefined : unescape(info.slice(colon + 1), 'userinfo') }, host }
}

function parseHost(host: string): string {
  const bracket = host.startsWith('[') ? host.lastIndexOf(']') : -1
  if (host.startsWith('[') && bracket < 0) throw new UrlProblem("missing ']' in host")
  const port = bracket >= 0 ? host.slice(bracket + 1) : host.includes(':') ? host.slice(host.lastIndexOf(':')) : ''
  if (port !== '' && !/^:\d*$/.test(port)) throw new UrlProblem(`invalid port ${quote(port)} after host`)
  return unescape(host, 'host')
}

function userText(user: NonNullable<Url['user']>): string {
  const name = escape(user.name, 'userinfo')
  return user.password === undefined ? name : `${name}:${escape(user.password, 'userinfo')}`
}

function hostName(host: string): string {
  const withoutPort = /^(.*):\d*$/s.exec(host)?.[1] ?? host
  return withoutPort.startsWith('[') && withoutPort.endsWith(']') ? withoutPort.slice(1, -1) : withoutPort
}

function urlText({ scheme, opaque, user, host, path, query, fragment }: Omit<Url, 'rawPath' | 'hasQuery'>): string {
  let out = scheme === '' ? '' : `${scheme}:`
  if (opaque !== '') out += opaque
  else {
    if (scheme !== '' || host !== '' || user) {
      const omitsHost = scheme === '' && host === '' && !user
      if (!omitsHost && (host !== '' || path !== '' || user)) out += '//'
      if (user) out += `${userText(user)}@`
      out += escape(host, 'host')
    }
    const escaped = path === '*' ? '*' : escape(path, 'path')
    if (escaped !== '' && !escaped.startsWith('/') && host !== '') out += '/'
    if (out === '' && escaped.split('/')[0]?.includes(':')) out += './'
    out += escaped
  }
  if (query !== '') out += `?${query}`
  if (fragment !== '') out += `#${escape(fragment, 'fragment')}`
  return out
}

function textEntry(map: GoMap | null, key: string): string {
  const value: GoValue = map?.get(key)
  if (value === undefined) return ''
  if (value === null) throw new FunctionError('runtime error: invalid memory address or nil pointer dereference')
  if (typeof value === 'string') return value
  throw new FunctionError(`unable to parse ${key} key, must be of type string, but ${kindOf(value)} found`)
}

function userOf(info: string): Url['user'] {
  if (info === '') return undefined
  const text = `proto://${info}@host`
  try {
    return parse(text).user
  } catch (error) {
    if (!(error instanceof UrlProblem)) throw error
    throw new FunctionError(`unable to parse userinfo in dict: parse ${quote(text)}: ${error.message}`)
  }
}

export const urlFunctions: readonly GoFunction[] = [
  fn('urlParse', ['string'], ([text]) => {
    const url = parseUrl(text)
    return new Map<string, GoValue>([
      ['scheme', url.scheme],
      ['host', url.host],
      ['hostname', hostName(url.host)],
      ['path', url.path],
      ['query', url.query],
      ['opaque', url.opaque],
      ['fragment', url.fragment],
      ['userinfo', url.user ? userText(url.user) : ''],
    ])
  }),
  fn('urlJoin', ['map[string]interface {}'], ([map]) =>
    urlText({
      scheme: textEntry(map, 'scheme'),
      host: textEntry(map, 'host'),
      path: textEntry(map, 'path'),
      query: textEntry(map, 'query'),
      opaque: textEntry(map, 'opaque'),
      fragment: textEntry(map, 'fragment'),
      user: userOf(textEntry(map, 'userinfo')),
    }),
  ),
]
