import type { Kind, KubeObject } from '@tenure/kube'
import { defineKind } from '@tenure/kube'
import type { AdmissionReviewResponse } from './review.ts'

export interface Website extends KubeObject {
  readonly spec?: { readonly host?: string; readonly replicas?: number | null; readonly tags?: readonly string[] }
}

export const Website: Kind<Website> = defineKind<Website>({ apiVersion: 'example.dev/v1', kind: 'Website' })

/** A review in the format that the API server sends. */
export function reviewOf(request: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u-1',
      kind: { group: 'example.dev', version: 'v1', kind: 'Website' },
      resource: { group: 'example.dev', version: 'v1', resource: 'websites' },
      name: 'web',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'jane', groups: ['devs'] },
      object: websiteOf({ host: 'a.dev', replicas: 1 }),
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      ...request,
    },
  }
}

export function websiteOf(spec: Website['spec']): Website {
  return {
    apiVersion: 'example.dev/v1',
    kind: 'Website',
    metadata: { name: 'web', namespace: 'default' },
    ...(spec && { spec }),
  }
}

export interface Response {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: { readonly code: number; readonly message: string; readonly reason: string }
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
  readonly patchType?: string
  readonly patch?: string
}

export function responseIn(response: AdmissionReviewResponse): Response {
  return (response.body as { readonly response: Response }).response
}

export function operationsIn(response: Response): unknown {
  return JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString('utf8'))
}
