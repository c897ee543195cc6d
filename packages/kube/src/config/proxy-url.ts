import { kubeconfigError } from './kubeconfig/kubeconfig-error.ts'

const SCHEMES = new Set(['http:', 'https:', 'socks5:'])

/** Validates a proxy address and returns it. `whose` starts the error message. */
export function parseProxyUrl(url: string, whose: string): string {
  if (URL.canParse(url) && SCHEMES.has(new URL(url).protocol)) return url
  throw kubeconfigError(
    'INVALID',
    `${whose} cannot be used: the proxy-url must begin with http://, https:// or socks5://.`,
  )
}

/**
 * The proxy for a server from the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in upper or lower case), if any.
 * Loopback addresses are never proxied.
 */
export function proxyFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  server: string,
): string | undefined {
  const url = new URL(server)
  const named = url.protocol === 'https:' ? pick(env, 'HTTPS_PROXY') : pick(env, 'HTTP_PROXY')
  if (named === undefined || isExempt(url, pick(env, 'NO_PROXY') ?? '')) return undefined
  return parseProxyUrl(named.includes('://') ? named : `http://${named}`, 'The environment (HTTPS_PROXY or HTTP_PROXY)')
}

function pick(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()] || undefined
}

function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return true
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => {
      if (entry === '*') return true
      if (entry.includes('/')) return isInNetwork(host, entry)
      const [, bare = '', wanted] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(ipv6Literal(entry)) ?? []
      if (bare === '' || (wanted !== undefined && wanted !== port)) return false
      const name = bare.replace(/^\*?\./, '')
      // ".example.com" matches only its subdomains, "example.com" also itself.
      return host.endsWith(`.${name}`) || (host === name && name === bare)
    })
}

/** Adds brackets to an IPv6 address, so that its last group is not read as a port. */
function ipv6Literal(entry: string): string {
  return !entry.startsWith('[') && entry.indexOf(':') !== entry.lastIndexOf(':') ? `[${entry}]` : entry
}

/** Whether an IPv4 address is in `a.b.c.d/n`. */
function isInNetwork(host: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/')
  const [address, start, length] = [ipv4(host), ipv4(base), Number(bits)]
  if (address === undefined || start === undefined || !Number.isInteger(length) || length < 0 || length > 32)
    return false
  const size = 2 ** (32 - length)
  return Math.floor(address / size) === Math.floor(start / size)
}

function ipv4(text: string): number | undefined {
  const parts = text.split('.').map(Number)
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined
  return parts.reduce((value, part) => value * 256 + part, 0)
}
