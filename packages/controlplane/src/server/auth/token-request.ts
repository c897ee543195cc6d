import type { KubeObject } from '@tenure/kube'
import { asString, isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import { badRequest, conflict, invalid, notFound } from '../../errors.ts'
import { timestamp } from '../../registry/metadata/metadata.ts'
import { wrongNamespace } from '../../registry/verbs/identity.ts'
import type { FieldError } from '../../schema/types.ts'
import type { Storage } from '../../storage/types.ts'
import type { ReviewContext } from './reviews.ts'
import type { BoundObjects } from './service-account-tokens.ts'

const MAX_TOKEN_SECONDS = 2 ** 32
const MIN_TOKEN_SECONDS = 600
const DEFAULT_TOKEN_SECONDS = 3600
const GROUP = 'authentication.k8s.io'
const POD = { group: '', plural: 'pods', kind: 'Pod' }
const NODE = { group: '', plural: 'nodes', kind: 'Node' }
const SECRET = { group: '', plural: 'secrets', kind: 'Secret' }
/** kube-apiserver names the kind where others name the resource. */
const REQUEST = { group: GROUP, plural: 'TokenRequest', kind: 'TokenRequest' }

/** Issues a token of a service account, for the `token` subresource. */
export function requestToken(context: ReviewContext, namespace: string, name: string, body: unknown): KubeObject {
  checkMetadata(namespace, name, body)
  const account = context.storage.get('serviceaccounts', `${namespace}/${name}`)
  if (!account) throw notFound({ group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' }, name)
  const { uid } = account.object.metadata
  const wanted = asString(valueAtPath(body, 'metadata', 'uid'))
  if (wanted && wanted !== uid) {
    const why = `the UID in the token request (${wanted}) does not match the UID of the service account (${uid})`
    throw conflict(REQUEST, name, why)
  }
  const asked = valueAtPath(body, 'spec', 'audiences')
  const seconds = valueAtPath(body, 'spec', 'expirationSeconds')
  checkLifetime(seconds)
  const bound = valueAtPath(body, 'spec', 'boundObjectRef')
  const { token, audiences, expires } = context.accounts.issue({
    namespace,
    name,
    uid,
    audiences: Array.isArray(asked) ? asked.map(String) : [],
    expirationSeconds: typeof seconds === 'number' ? seconds : DEFAULT_TOKEN_SECONDS,
    bound: isJsonObject(bound) ? boundObjects(context.storage, namespace, name, bound) : {},
  })
  const now = context.clock.now()
  return {
    kind: 'TokenRequest',
    apiVersion: `${GROUP}/v1`,
    metadata: { name, namespace, uid, creationTimestamp: timestamp(now) },
    spec: {
      audiences,
      expirationSeconds: seconds ?? DEFAULT_TOKEN_SECONDS,
      boundObjectRef: isJsonObject(bound) ? bound : null,
    },
    status: { token, expirationTimestamp: timestamp(expires) },
  } as KubeObject
}

const refuse = (name: string, field: string, value: unknown, why: string): Error => {
  const message = `Invalid value: ${JSON.stringify(value)}: ${why}`
  const errors: readonly FieldError[] = [{ reason: 'FieldValueInvalid', field, message }]
  return invalid({ ...REQUEST, plural: '' }, name, errors)
}

/** Name and namespace in the body, if any, must match the URL. */
function checkMetadata(namespace: string, name: string, body: unknown): void {
  const [sent, within] = ['name', 'namespace'].map((key) => asString(valueAtPath(body, 'metadata', key)))
  if (within && within !== namespace) throw wrongNamespace()
  if (!sent || sent === name) return
  throw refuse(name, 'metadata.name', sent, 'must match the service account name if specified')
}

function checkLifetime(seconds: unknown): void {
  if (typeof seconds !== 'number') return
  const why =
    seconds < MIN_TOKEN_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : seconds > MAX_TOKEN_SECONDS
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined
  if (why !== undefined) throw refuse('', 'spec.expirationSeconds', seconds, why)
}

/** The object that a token is bound to, which must exist. A token of a pod also names the pod's node. */
function boundObjects(storage: Storage, namespace: string, account: string, reference: JsonObject): BoundObjects {
  const [kind, apiVersion, name, uid] = ['kind', 'apiVersion', 'name', 'uid'].map((key) => asString(reference[key]))
  const [version = '', group = ''] = (apiVersion ?? '').split('/').toReversed()
  const of = [POD, NODE, SECRET].find((known) => group === '' && known.kind === kind)
  if (!of) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  const found = storage.get(of.plural, of === NODE ? `${name}` : `${namespace}/${name}`)?.object
  if (!found) throw notFound(of, name ?? '')
  if (of === POD && valueAtPath(found, 'spec', 'serviceAccountName') !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    )
  }
  const object = { name: found.metadata.name, uid: found.metadata.uid }
  if (uid && uid !== object.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ ...of, plural: of.kind }, object.name, why)
  }
  if (of === SECRET) return { secret: object }
  if (of === NODE) return { node: object }
  const nodeName = asString(valueAtPath(found, 'spec', 'nodeName'))
  if (!nodeName) return { pod: object }
  const nodeUid = storage.get('nodes', nodeName)?.object.metadata.uid
  return { pod: object, node: { name: nodeName, ...(nodeUid && { uid: nodeUid }) } }
}
