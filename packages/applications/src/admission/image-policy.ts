import { parseImage, type ImageReference } from '@tenure/kube/model'

/** Images that may run. */
export interface ImagePolicy {
  /**
   * Base images, which are not applications. A plain name (`ubuntu`) matches every repository that ends in it, on every
   * registry: `docker.io/library/ubuntu`, `arm64v8/ubuntu` and `mirror.gcr.io/library/ubuntu`. A name with a slash
   * (`docker.io/library/busybox`) matches that repository only. Default ubuntu, debian, alpine. Empty blocks nothing.
   */
  readonly blockedBases: readonly string[]
  /**
   * Hosts that images may come from. `*.gcr.io` matches every host below gcr.io, `*` every host. Default gcr.io,
   * *.gcr.io (its regions, such as eu.gcr.io) and docker.io. Empty allows every host.
   */
  readonly allowedRegistries: readonly string[]
}

export const defaultImagePolicy: ImagePolicy = {
  blockedBases: ['ubuntu', 'debian', 'alpine'],
  allowedRegistries: ['gcr.io', '*.gcr.io', 'docker.io'],
}

/** Why the policy refuses an image; undefined if it allows it. */
export function imagePolicyViolation(image: string, policy: ImagePolicy): string | undefined {
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

/** Whether there is no image at all: the schema refuses an empty text only. */
export function isBlank(image: string): boolean {
  return image.trim() === ''
}

/** Whether the tag is `latest`, explicitly or by default, and no digest pins the image. */
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

/** An entry may spell Docker Hub or the port 443 in any way that an image reference may. */
function canonicalHost(host: string): string {
  return parseImage(`${host}/image`)?.registry ?? host
}

/** `gcr.io or docker.io`: leaves out wildcards of hosts that are listed themselves. */
function registryNames(allowed: readonly string[]): string {
  const names = allowed.filter((entry) => !(entry.startsWith('*.') && allowed.includes(entry.slice(2))))
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
