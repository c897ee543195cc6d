import { parseImage, type ImageReference } from './image-reference.ts'

/** Which images may run. */
export interface ImagePolicy {
  /**
   * Images that are bases to build on and not applications. A plain name (`ubuntu`) means every repository whose last
   * part it is, on every registry: `docker.io/library/ubuntu`, `arm64v8/ubuntu` and `mirror.gcr.io/library/ubuntu` are
   * the same base. A name with a slash (`docker.io/library/busybox`) means that repository only.
   * Default ubuntu, debian, alpine. Empty: none is blocked.
   */
  readonly blockedBases: readonly string[]
  /**
   * Hosts that images may come from, exactly; `*.gcr.io` means every host below gcr.io, and `*` every host.
   * Default gcr.io, *.gcr.io (its regions, such as eu.gcr.io) and docker.io. Empty: every host.
   */
  readonly allowedRegistries: readonly string[]
}

export const defaultImagePolicy: ImagePolicy = {
  blockedBases: ['ubuntu', 'debian', 'alpine'],
  allowedRegistries: ['gcr.io', '*.gcr.io', 'docker.io'],
}

/** Why the policy does not let an image run; undefined if it does. */
export function imageObjection(image: string, policy: ImagePolicy): string | undefined {
  const reference = parseImage(image)
  if (!reference) return `'${shortened(image)}' is not a valid image reference`
  const base = policy.blockedBases.find((blocked) => isBase(reference, blocked))
  if (base !== undefined) {
    return `Base image '${base}' is not allowed. Use distroless or specific application images.`
  }
  if (!isAllowedRegistry(reference.registry, policy.allowedRegistries)) {
    return `Images must be from ${registryNames(policy.allowedRegistries)} registries`
  }
  return undefined
}

/** True if what runs may change without the Application changing: the tag is `latest`, said or not, and nothing pins it. */
export function isLatest(image: string): boolean {
  const reference = parseImage(image)
  return reference !== undefined && reference.digest === undefined && (reference.tag ?? 'latest') === 'latest'
}

function isBase(reference: ImageReference, blocked: string): boolean {
  if (!blocked.includes('/')) return reference.repository.split('/').at(-1) === blocked.toLowerCase()
  const meant = parseImage(blocked)
  return meant !== undefined && meant.registry === reference.registry && meant.repository === reference.repository
}

function isAllowedRegistry(registry: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true
  return allowed.some((entry) => {
    const name = entry.toLowerCase()
    if (name === '*') return true
    return name.startsWith('*.') ? registry.endsWith(name.slice(1)) : canonicalHost(name) === registry
  })
}

/** An entry may spell Docker Hub, or the port 443, as an image may. */
function canonicalHost(host: string): string {
  return parseImage(`${host}/image`)?.registry ?? host
}

/** `gcr.io or docker.io`: hosts below one that is named go without saying. */
function registryNames(allowed: readonly string[]): string {
  const names = allowed.filter((entry) => !(entry.startsWith('*.') && allowed.includes(entry.slice(2))))
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
