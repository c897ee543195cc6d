import type { KubeObject, Random } from '@tenure/kube'
import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { goKind } from '../../patch/go-format.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import { newUid } from '../../registry/verbs/prepare.ts'
import { goQuote } from '../../schema/go-text.ts'
import type { ReviewedObjects } from './matching.ts'
import { kindFor } from './versions.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

/** The request of a review, also visible to match conditions. */
export interface SentReviewRequest extends JsonObject {
  readonly uid: string
}

const resourceOf = ({ group, version, plural }: ResourceDefinition) => ({ group, version, resource: plural })

/** Builds the request with its fields in the order of kube-apiserver. */
export function requestOf(
  definition: ResourceDefinition,
  attributes: AdmissionAttributes,
  { object, oldObject }: ReviewedObjects,
  random: Random,
): SentReviewRequest {
  const { subresource, name, operation, user, dryRun, options } = attributes
  const namespace = attributes.definition.bucket === 'namespaces' ? name : attributes.namespace
  return {
    uid: newUid(random),
    kind: kindFor(definition, subresource),
    resource: resourceOf(definition),
    ...(subresource && { subResource: subresource }),
    requestKind: kindFor(attributes.definition, subresource),
    requestResource: resourceOf(attributes.definition),
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    object: withVersion(object, oldObject),
    oldObject: oldObject ?? null,
    dryRun,
    options,
  }
}

/** The registry's placeholder for the new resourceVersion becomes the old version on update and is absent on create. */
function withVersion(object: KubeObject | undefined, oldObject: KubeObject | undefined): KubeObject | null {
  if (object?.metadata?.resourceVersion !== '') return object ?? null
  const resourceVersion = oldObject?.metadata?.resourceVersion
  if (resourceVersion) return { ...object, metadata: { ...object.metadata, resourceVersion } }
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

export function reviewText(version: ReviewVersion, request: SentReviewRequest): string {
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: `admission.k8s.io/${version}`, request })
}

export interface WebhookReviewResponse {
  readonly isAllowed: boolean
  /** The reason of a denial, a Status. */
  readonly status: unknown
  readonly warnings: readonly string[]
  /** JSON text of a mutating webhook's patch; empty without patch. */
  readonly patch: string
  readonly patchType: string
}

/** Thrown for a response that fails to decode, with the message of kube-apiserver. */
export class UndecodableResponse extends Error {}

/** Thrown for a decoded response that violates the protocol. */
export class InvalidResponse extends Error {}

export function readResponse(
  version: ReviewVersion,
  uid: string,
  isMutating: boolean,
  review: JsonObject,
): WebhookReviewResponse {
  const { response } = review
  if (!isJsonObject(response)) throw new InvalidResponse('webhook response was absent')
  checkTypes(response)
  // kube-apiserver does not check these fields for v1beta1.
  if (version === 'v1') checkIdentity(uid, review, response)
  const patch = textOf(response['patch'])
  const patchType = response['patchType']
  if (version === 'v1') checkPatch(isMutating, patch, patchType)
  return {
    isAllowed: response['allowed'] === true,
    status: response['status'],
    warnings: Array.isArray(response['warnings'])
      ? response['warnings'].filter((warning) => typeof warning === 'string')
      : [],
    patch: isMutating ? Buffer.from(patch, 'base64').toString('utf8') : '',
    patchType: version === 'v1' ? textOf(patchType) : 'JSONPatch',
  }
}

function checkTypes({ allowed, patch }: JsonObject): void {
  const wrong = (field: string, value: unknown, type: string) =>
    new UndecodableResponse(
      `json: cannot unmarshal ${goKind(value)} into Go struct field AdmissionResponse.response.${field} of type ${type}`,
    )
  if (allowed !== undefined && allowed !== null && typeof allowed !== 'boolean') throw wrong('allowed', allowed, 'bool')
  if (patch === undefined || patch === null) return
  if (typeof patch !== 'string') throw wrong('patch', patch, '[]uint8')
  const text = patch.replaceAll(/[\r\n]/g, '')
  const good = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/.exec(text)?.[0].length ?? 0
  if (good === text.length) return
  const strange = text.search(/[^A-Za-z0-9+/]/)
  throw new UndecodableResponse(`illegal base64 data at input byte ${strange < 0 ? good : strange}`)
}

function checkIdentity(uid: string, review: JsonObject, response: JsonObject): void {
  const responseUid = textOf(response['uid'])
  if (responseUid !== uid) {
    throw new InvalidResponse(`expected response.uid=${goQuote(uid)}, got ${goQuote(responseUid)}`)
  }
  const [apiVersion, kind] = [textOf(review['apiVersion']), textOf(review['kind'])]
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const shown = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    throw new InvalidResponse(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${shown}, Kind=${kind}`,
    )
  }
}

function checkPatch(isMutating: boolean, patch: string, patchType: unknown): void {
  const hasType = patchType !== undefined && patchType !== null
  if (!isMutating) {
    if (patch) throw new InvalidResponse('validating webhook may not return response.patch')
    if (hasType) throw new InvalidResponse('validating webhook may not return response.patchType')
    return
  }
  if (patch && !hasType) throw new InvalidResponse('webhook returned response.patch but not response.patchType')
  if (!patch && hasType) throw new InvalidResponse('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw new InvalidResponse('webhook returned invalid response.patchType of ""')
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
