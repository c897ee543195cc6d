/**
 * A normalized image reference: equal images have equal references, so that a different spelling does not bypass a
 * policy. Parsed as Docker and containerd do, with two additions for policies: hosts are lower case, and all host names
 * of Docker Hub become `docker.io`.
 */
export interface ImageReference {
  /** The host, with its port unless that is 443: `docker.io`, `localhost:5000`, `[::1]:5000`. */
  readonly registry: string
  /** Path on the host: `library/ubuntu`. */
  readonly repository: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

const DOCKER_HUB = 'docker.io'
/** Host names of Docker Hub; Docker itself rewrites `index.docker.io` only. */
const DOCKER_HUB_HOSTS: ReadonlySet<string> = new Set([
  DOCKER_HUB,
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
])

const LABEL = String.raw`(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
const HOST = new RegExp(String.raw`^(?:${LABEL}(?:\.${LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?$`)
const PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
/** Digests that container runtimes support, each with its length. */
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/
const MAX_REPOSITORY_LENGTH = 255
/** In characters; more than the longest host, repository, tag and digest together. */
const MAX_REFERENCE_LENGTH = 1_024

/** Parses an image reference; undefined if a container runtime would refuse it. */
export function parseImage(text: string): ImageReference | undefined {
  // Docker reads 64 hexadecimal digits as the id of a local image.
  if (text.length > MAX_REFERENCE_LENGTH || /^[a-f0-9]{64}$/.test(text)) return undefined
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  if (digest !== undefined && !DIGEST.test(digest)) return undefined
  const named = at < 0 ? text : text.slice(0, at)
  // A colon before the last slash belongs to the host.
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const tag = colon < 0 ? undefined : named.slice(colon + 1)
  if (tag !== undefined && !TAG.test(tag)) return undefined
  const name = colon < 0 ? named : named.slice(0, colon)
  const [host, path] = splitHost(name)
  if (!HOST.test(host) || !path.split('/').every((part) => PART.test(part))) return undefined
  const registry = registryOf(host)
  const repository = registry === DOCKER_HUB && !path.includes('/') ? `library/${path}` : path
  if (repository.length > MAX_REPOSITORY_LENGTH) return undefined
  return { registry, repository, tag, digest }
}

/** Formats a reference; without tag and digest it gets the tag `latest`. */
export function formatImage({ registry, repository, tag, digest }: ImageReference): string {
  // Only its capitals told this host from a path, and they are gone: the port marks it as a host.
  const host = looksLikeHost(registry) ? registry : `${registry}:443`
  const version = tag ?? (digest === undefined ? 'latest' : undefined)
  return `${host}/${repository}${version === undefined ? '' : `:${version}`}${digest === undefined ? '' : `@${digest}`}`
}

/** Docker's rule: the first part is a host if it looks like one, else everything is a path on Docker Hub. */
function splitHost(name: string): readonly [host: string, path: string] {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  return looksLikeHost(first) ? [first, name.slice(slash + 1)] : [DOCKER_HUB, name]
}

function looksLikeHost(part: string): boolean {
  return /[.:]/.test(part) || part === 'localhost' || part !== part.toLowerCase()
}

function registryOf(host: string): string {
  const lower = host.toLowerCase().replace(/:443$/, '')
  return DOCKER_HUB_HOSTS.has(lower) ? DOCKER_HUB : lower
}
