/**
 * Where an image comes from, in one spelling for all that mean the same, so that a policy can not be talked round.
 * Read as Docker and containerd read it, with two liberties that only matter to a policy: hosts are compared in lower
 * case, as the network does, and the hosts behind which Docker Hub answers are all called `docker.io`.
 */
export interface ImageReference {
  /** The host, with its port unless that is 443: `docker.io`, `localhost:5000`, `[::1]:5000`. */
  readonly registry: string
  /** The path there: `library/ubuntu`. */
  readonly repository: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

const DOCKER_HUB = 'docker.io'
/** All of them are Docker Hub; `index.docker.io` is the only one that Docker itself rewrites. */
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
/** Those that container runtimes know, each with its length. */
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/
const LONGEST_REPOSITORY = 255
/** More than a host, a repository, a tag and the longest digest: such a text needs no look. */
const LONGEST_TEXT = 1_024

/** Reads an image reference; undefined if no container runtime could. */
export function parseImage(text: string): ImageReference | undefined {
  // Docker takes 64 hexadecimal digits for the id of a local image, which no registry has.
  if (text.length > LONGEST_TEXT || /^[a-f0-9]{64}$/.test(text)) return undefined
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
  if (repository.length > LONGEST_REPOSITORY) return undefined
  return { registry, repository, tag, digest }
}

/** The one spelling of a reference; without tag and digest it is the tag `latest`. */
export function formatImage({ registry, repository, tag, digest }: ImageReference): string {
  // A host that only its capitals told from a path is told by its port here.
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
