import { asError, type GroupVersionKind, type Kind } from '@tenure/kube'
import type { Discovery } from '@tenure/runtime'
import { ClaimTemplateError, type Manifest } from './types.ts'

/** The kinds of rendered resources, from discovery. */
export class ClaimKinds {
  readonly #discovery: Pick<Discovery, 'kind'>
  /** By apiVersion and kind. */
  readonly #kinds = new Map<string, Kind>()

  constructor(discovery: Pick<Discovery, 'kind'>) {
    this.#discovery = discovery
  }

  /** A kind that was found before, for plans, which must not wait. */
  known(apiVersion: string, kind: string): Kind | undefined {
    return this.#kinds.get(`${apiVersion} ${kind}`)
  }

  /** The kinds of manifests, in their order. Rejects with a ClaimTemplateError if one does not exist or has no namespace. */
  async resolve(manifests: readonly Manifest[], signal?: AbortSignal): Promise<readonly Kind[]> {
    const found: Kind[] = []
    for (const manifest of manifests) {
      const { apiVersion, kind } = manifest
      found.push(this.known(apiVersion, kind) ?? (await this.#find(manifest, signal)))
    }
    return found
  }

  async #find({ apiVersion, kind: name, metadata }: Manifest, signal: AbortSignal | undefined): Promise<Kind> {
    let kind: Kind
    try {
      kind = await this.#discovery.kind(groupVersionKind(apiVersion, name), { signal })
    } catch (error) {
      if ((asError(error) as Error & { code?: string }).code !== 'TENURE_KIND_UNKNOWN') throw error
      throw new ClaimTemplateError(`${name} ${metadata.name}: no such kind in apiVersion ${apiVersion}`)
    }
    if (!kind.namespaced) {
      throw new ClaimTemplateError(
        `${name} ${metadata.name} is cluster-scoped; the resources of a claim must have a namespace`,
      )
    }
    this.#kinds.set(`${apiVersion} ${name}`, kind)
    return kind
  }
}

function groupVersionKind(apiVersion: string, kind: string): GroupVersionKind {
  const slash = apiVersion.indexOf('/')
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind }
}
