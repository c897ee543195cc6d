import { isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import type { Clock, KubeObject } from '@tenure/kube'
import { fieldManagement } from '../../apply/field-management.ts'
import { badRequest, invalid } from '../../errors.ts'
import { valueAt } from '../../registry/dotted-path.ts'
import { timestamp } from '../../registry/metadata/metadata.ts'
import type { ResourceDefinition, User } from '../../registry/types.ts'
import { builtInSchema, resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import type { FieldError } from '../../schema/types.ts'
import type { Storage } from '../../storage/types.ts'
import type { Authenticator } from './authentication.ts'
import type { AccessAttributes, Authorizer } from './authorization.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

export interface ReviewContext {
  readonly storage: Storage
  readonly clock: Clock
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly accounts: ServiceAccountTokens
}

export interface ReviewRequest {
  readonly namespace: string | undefined
  readonly body: unknown
  readonly user: User
}

type Review = (context: ReviewContext, request: ReviewRequest) => KubeObject

const AUTHENTICATION = 'authentication.k8s.io'
const AUTHORIZATION = 'authorization.k8s.io'

/** Requests that are answered and not stored: the identity of a user, and its permissions. */
const REVIEWS: readonly {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  readonly handle: Review
}[] = [
  {
    group: AUTHENTICATION,
    plural: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    namespaced: false,
    handle: reviewSelf,
  },
  { group: AUTHENTICATION, plural: 'tokenreviews', kind: 'TokenReview', namespaced: false, handle: reviewToken },
  {
    group: AUTHORIZATION,
    plural: 'localsubjectaccessreviews',
    kind: 'LocalSubjectAccessReview',
    namespaced: true,
    handle: reviewAccess,
  },
  {
    group: AUTHORIZATION,
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    handle: reviewOwnAccess,
  },
  {
    group: AUTHORIZATION,
    plural: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    namespaced: false,
    handle: reviewOwnRules,
  },
  {
    group: AUTHORIZATION,
    plural: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    namespaced: false,
    handle: reviewAccess,
  },
]

/** The reviews as resources of discovery. */
export const reviewDefinitions: readonly ResourceDefinition[] = REVIEWS.map(({ group, plural, kind, namespaced }) => ({
  group,
  version: 'v1',
  kind,
  listKind: `${kind}List`,
  plural,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced,
  verbs: ['create'],
  schema: undefined,
  resolve: () => ({}),
  hasStatus: false,
  scale: undefined,
  strategy: { generation: false },
  printer: { columns: [], cells: () => [] },
  isBuiltIn: true,
  bucket: `${plural}.${group}`,
}))

/** The handler of a review; undefined for any other resource. */
export function reviewFor(group: string, version: string, plural: string): Review | undefined {
  if (version !== 'v1') return undefined
  return REVIEWS.find((review) => review.group === group && review.plural === plural)?.handle
}

function specOf({ body }: ReviewRequest): JsonObject {
  const spec = valueAtPath(body, 'spec')
  return isJsonObject(spec) ? spec : {}
}

function reviewed(group: string, kind: string, spec: JsonObject, status: object, namespace?: string): KubeObject {
  const metadata = namespace === undefined ? {} : { namespace }
  return { kind, apiVersion: `${group}/v1`, metadata, spec, status } as KubeObject
}

function userInfo({ name, uid, groups, extra }: User): object {
  return { username: name, ...(uid && { uid }), ...(groups.length > 0 && { groups }), ...(extra && { extra }) }
}

function reviewSelf({ clock }: ReviewContext, { user }: ReviewRequest): KubeObject {
  return {
    kind: 'SelfSubjectReview',
    apiVersion: `${AUTHENTICATION}/v1`,
    metadata: { creationTimestamp: timestamp(clock.now()) },
    status: { userInfo: userInfo(user) },
  } as KubeObject
}

function reviewToken({ authenticator }: ReviewContext, request: ReviewRequest): KubeObject {
  const spec = specOf(request)
  const { token, audiences } = spec
  if (typeof token !== 'string' || token === '') throw badRequest('token is required for TokenReview in authentication')
  const wanted = Array.isArray(audiences) ? audiences.map(String) : []
  const user = authenticator.byToken(token, wanted)
  const status = user
    ? { authenticated: true, user: userInfo(user), ...(wanted.length > 0 && { audiences: wanted }) }
    : { user: {}, error: 'invalid bearer token' }
  return reviewed(AUTHENTICATION, 'TokenReview', spec, status)
}

function reviewOwnAccess(context: ReviewContext, request: ReviewRequest): KubeObject {
  const spec = specOf(request)
  check(spec, true)
  const { allowed, reason } = context.authorizer.authorize(attributesFrom(spec, request.user))
  return reviewed(AUTHORIZATION, 'SelfSubjectAccessReview', spec, { allowed, ...(reason && { reason }) })
}

function reviewAccess(context: ReviewContext, request: ReviewRequest): KubeObject {
  const spec = specOf(request)
  const { namespace } = request
  check(spec, false)
  if (namespace !== undefined && valueAtPath(spec, 'resourceAttributes', 'namespace') !== namespace) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
  }
  const { user, uid, groups, extra } = spec
  const asked: User = {
    name: typeof user === 'string' ? user : '',
    groups: Array.isArray(groups) ? groups.map(String) : [],
    ...(typeof uid === 'string' && { uid }),
    ...(isJsonObject(extra) && { extra: extra as Readonly<Record<string, readonly string[]>> }),
  }
  const { allowed, reason } = context.authorizer.authorize(attributesFrom(spec, asked))
  const kind = namespace === undefined ? 'SubjectAccessReview' : 'LocalSubjectAccessReview'
  return reviewed(AUTHORIZATION, kind, spec, { allowed, ...(reason && { reason }) }, namespace)
}

function reviewOwnRules(context: ReviewContext, request: ReviewRequest): KubeObject {
  const spec = specOf(request)
  const rules = context.authorizer.rulesFor(
    request.user,
    typeof spec['namespace'] === 'string' ? spec['namespace'] : '',
  )
  return reviewed(
    AUTHORIZATION,
    'SelfSubjectRulesReview',
    {},
    {
      resourceRules: rules.filter((rule) => !rule.nonResourceURLs),
      nonResourceRules: rules.filter((rule) => rule.nonResourceURLs),
      incomplete: false,
    },
  )
}

function check(spec: JsonObject, isSelf: boolean): void {
  const errors: FieldError[] = []
  const other = spec['nonResourceAttributes']
  const wrong = (field: string, value: string, why: string): void =>
    void errors.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${value}: ${why}` })
  if (isJsonObject(spec['resourceAttributes']) && isJsonObject(other)) {
    const shown = JSON.stringify({ Path: other['path'] ?? '', Verb: other['verb'] ?? '' })
    wrong('spec.nonResourceAttributes', shown, 'cannot be specified in combination with resourceAttributes')
  }
  if (!isJsonObject(spec['resourceAttributes']) && !isJsonObject(other))
    wrong(
      'spec.resourceAttributes',
      'null',
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    )
  const isAnonymous = !spec['user'] && !(Array.isArray(spec['groups']) && spec['groups'].length > 0)
  if (!isSelf && isAnonymous) wrong('spec.user', '""', 'at least one of user or group must be specified')
  if (errors.length > 0) throw invalid({ group: AUTHORIZATION, plural: '', kind: '' }, '', errors)
}

function attributesFrom(spec: JsonObject, user: User): AccessAttributes {
  const text = (path: string): string => {
    const value = valueAt(spec, path)
    return typeof value === 'string' ? value : ''
  }
  if (!isJsonObject(spec['resourceAttributes'])) {
    return { user, verb: text('nonResourceAttributes.verb'), path: text('nonResourceAttributes.path') }
  }
  const at = (field: string): string => text(`resourceAttributes.${field}`)
  return {
    user,
    verb: at('verb'),
    path: '',
    resource: {
      group: at('group'),
      plural: at('resource'),
      subresource: at('subresource'),
      namespace: at('namespace') || undefined,
      name: at('name') || undefined,
    },
  }
}

/** A review with its manager in managedFields: kube-apiserver treats it as a created object. */
export function withRequester(review: KubeObject, manager: string, now: number): KubeObject {
  const { apiVersion = '', kind = '' } = review
  const [group = '', version = ''] = apiVersion.split('/')
  const { status: _, ...next } = review as KubeObject & JsonObject
  const { metadata } = fieldManagement.update({
    live: undefined,
    next,
    manager,
    apiVersion,
    subresource: '',
    schema: builtInSchema(group, version, kind),
    resolve: resolveBuiltIn,
    now: timestamp(now),
    resetFields: [],
  })
  return { ...review, ...(metadata && { metadata }) }
}
