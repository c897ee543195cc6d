import { TenureError } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'

/** A rendered object: apiVersion, kind and metadata.name are there; metadata.namespace is the claim's. No labels or owner of ours yet. */
export type Manifest = JsonObject & {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: JsonObject & { readonly name: string }
}

export interface RenderedResource {
  readonly manifest: Manifest
  readonly isLazy: boolean
}

export interface RenderedClaim {
  readonly resources: readonly RenderedResource[]
  readonly returnValues: Readonly<Record<string, string>>
}

export interface RenderRequest {
  readonly id: string
  /** Visible as .Values.claim. Default: an empty map. */
  readonly values?: JsonObject
}

/** One version of a pool's template and values. */
export interface PoolTemplate {
  /** Hash of template text and values (16 hex digits): changes when either does. */
  readonly revision: string
  /** Throws a ClaimTemplateError. */
  render(request: RenderRequest): RenderedClaim
}

/**
 * A template, its values or a rendered object cannot be used. The message says what is wrong, with the position in the
 * template or the number, kind and name of the document. It never contains values, and there is never a cause, because
 * the engine's own messages quote values.
 */
export class ClaimTemplateError extends TenureError {
  constructor(message: string) {
    super('TENURE_CLAIM_TEMPLATE', message, { fate: 'terminal' })
  }
}
