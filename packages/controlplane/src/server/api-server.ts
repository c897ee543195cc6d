import type { Clock, Random } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { StatusError, statusBody } from '../errors.ts'
import { refuseOversized } from '../model/object-size.ts'
import { ContinueExpired } from '../registry/options/continue-token.ts'
import { withDeleteOptions } from '../registry/options/delete-options.ts'
import { managerOf } from '../registry/verbs/prepare.ts'
import type { RequestOptions, ResourceResponse, ResourceRegistry, ResourceVerb } from '../registry/request.ts'
import type { ResourceCatalog, ResourceDefinition, User } from '../registry/types.ts'
import { selectedName } from '../registry/selectors/field-selector.ts'
import { pathSegment } from '@tenure/kube/model'
import { APPLY_PATCH } from '../registry/request.ts'
import type { Storage } from '../storage/types.ts'
import { ANONYMOUS } from './auth/authentication.ts'
import type { Authenticator } from './auth/authentication.ts'
import { accessDenied } from './auth/authorization.ts'
import type { Authorizer } from './auth/authorization.ts'
import { MAX_BODY_BYTES, objectPurpose, parseBody, patchPurpose, tooLarge } from './encoding/request-body.ts'
import type { ParsedBody } from './encoding/request-body.ts'
import { withDeprecation } from './http/deprecation-warning.ts'
import { DiscoveryDocuments } from './discovery/discovery.ts'
import { encodeList, encodeObject } from './encoding/encode.ts'
import type { EncodeOptions } from './encoding/encode.ts'
import { actingUser } from './auth/impersonation.ts'
import { refuseExec } from './http/exec-unsupported.ts'
import { negotiate, WHOLE } from './encoding/negotiation.ts'
import type { Representation } from './encoding/negotiation.ts'
import { openApiV2 } from './discovery/openapi-v2.ts'
import { OpenApi } from './discovery/openapi.ts'
import { podLog } from './http/pod-log.ts'
import { parseQuery } from './http/query.ts'
import { reviewDefinitions, reviewFor, withRequester } from './auth/reviews.ts'
import { requestToken } from './auth/token-request.ts'
import { asYaml, json, PLAIN_HEADERS, reply, text } from './http/response.ts'
import type { ServerResponse } from './http/response.ts'
import {
  checkReadable,
  checkPatchType,
  checkRoute,
  isDeletion,
  isDiscovery,
  isPublic,
  isYaml,
  mediaType,
  noSuchResource,
  notAllowed,
  NOTHING,
  parseApplied,
  parseDeleteOptions,
  parseObject,
  verbOf,
} from './http/request-checks.ts'
import { parseRoute } from './http/route.ts'
import type { ResourceRoute } from './http/route.ts'
import type { ServiceAccountTokens } from './auth/service-account-tokens.ts'
import { VERSION_DOCUMENT } from './discovery/version.ts'
import { WatchAccess } from './watch/watch-access.ts'
import { WatchFeed } from './watch/watch-feed.ts'

export interface ServerRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string | undefined
  /** Reads the body of a request that is authorized. Throws a StatusError. Default: `body` is complete. */
  readonly readBody?: () => Promise<RequestText>
  /** Why the bytes of the body are not valid text, for formats in which that is an error. */
  readonly unreadable?: string
  /** Undefined for an anonymous request. */
  readonly user: User | undefined
  readonly signal: AbortSignal
  /** Reads return the state at this revision, for tests. Default: the newest. */
  readonly at?: number | undefined
}

/** A request after impersonation. */
interface ActingRequest extends ServerRequest {
  readonly user: User
  /** The user who impersonates `user`, or `user` itself; undefined for an anonymous request. */
  readonly authenticated: User | undefined
}

/** The text of a body. Its headers may have another content type than those of the request. */
export type RequestText = Pick<ServerRequest, 'body' | 'unreadable' | 'headers'>

export interface ApiServerOptions {
  readonly storage: Storage
  readonly catalog: ResourceCatalog
  readonly registry: ResourceRegistry
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly accounts: ServiceAccountTokens
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The Kubernetes API, independent of the transport. */
export class ApiServer {
  readonly #options: ApiServerOptions
  readonly #discovery: DiscoveryDocuments
  readonly #openApi: OpenApi
  readonly #watchAccess: WatchAccess

  constructor(options: ApiServerOptions) {
    this.#options = options
    const { catalog } = options
    const extra = reviewDefinitions.filter(({ group, version, plural }) => !catalog.find(group, version, plural))
    this.#discovery = new DiscoveryDocuments(catalog, extra)
    this.#openApi = new OpenApi(catalog)
    this.#watchAccess = new WatchAccess(options)
  }

  async handle(request: ServerRequest): Promise<ServerResponse> {
    let representation = WHOLE
    try {
      const mark = request.path.indexOf('?')
      const path = mark < 0 ? request.path : request.path.slice(0, mark)
      const query = mark < 0 ? '' : request.path.slice(mark + 1)
      const user = actingUser(request.user ?? ANONYMOUS, request.headers, this.#options.authorizer)
      const route = parseRoute(path)
      if (!route) {
        this.#authorizePath(user, request.method, path)
        return await this.#other(request, path)
      }
      representation = negotiate(request.headers['accept'], route.name === undefined)
      const response = await this.#withDeprecation(
        { ...request, user, authenticated: request.user },
        route,
        query,
        representation,
      )
      return representation.format === 'yaml' ? await asYaml(response) : response
    } catch (error) {
      const response = this.#errorResponse(error)
      return representation.format === 'yaml' ? asYaml(response) : response
    }
  }

  /** The response of a resource, with the deprecation warning of its kind, also on errors. */
  async #withDeprecation(
    request: ActingRequest,
    route: ResourceRoute,
    query: string,
    representation: Representation,
  ): Promise<ServerResponse> {
    const { group, version, plural } = route
    const deprecation = this.#options.catalog.find(group, version, plural)?.deprecation
    if (deprecation === undefined) return this.#resource(request, route, query, representation)
    try {
      return withDeprecation(await this.#resource(request, route, query, representation), deprecation)
    } catch (error) {
      return withDeprecation(this.#errorResponse(error), deprecation)
    }
  }

  #authorizePath(user: User, method: string, path: string): void {
    const verb = method.toLowerCase()
    if (isPublic(path) || this.#options.authorizer.authorize({ user, verb, path }).allowed) return
    // Every authenticated user may read discovery, as the roles of a real cluster allow.
    if (verb === 'get' && user.groups.includes('system:authenticated') && isDiscovery(path)) return
    throw new StatusError(403, 'Forbidden', `forbidden: User "${user.name}" cannot ${verb} path "${path}"`, {})
  }

  /** Serves all paths that are not resources. */
  async #other(request: ServerRequest, path: string): Promise<ServerResponse> {
    const { headers } = request
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const isHealth = /^\/(?:healthz|livez|readyz)(?:\/|$)/.test(trimmed)
    if (request.method !== 'GET' && !(request.method === 'HEAD' && isHealth)) throw notAllowed()
    switch (trimmed) {
      case '/version':
        return json(200, VERSION_DOCUMENT)
      case '/healthz':
      case '/livez':
      case '/readyz':
        return text(200, 'ok')
      case '/':
        return json(200, JSON.stringify({ paths: this.#discovery.paths() }))
      case '/api':
      case '/apis': {
        if (negotiate(headers['accept']).content !== 'aggregated') break
        const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
        return { status: 200, headers: { 'content-type': type }, body: `${this.#discovery.aggregated(trimmed)}\n` }
      }
      case '/openapi/v2':
        return openApiV2(headers['accept'])
      case '/openapi/v3':
        // The body is JSON, but kube-apiserver serves it as plain text.
        return text(200, this.#openApi.index())
      default:
    }
    if (trimmed.startsWith('/openapi/v3/')) {
      const document = await this.#openApi.document(trimmed.slice('/openapi/v3/'.length))
      if (document !== undefined) return json(200, document)
    }
    if (trimmed.startsWith('/healthz/') || trimmed.startsWith('/livez/') || trimmed.startsWith('/readyz/')) {
      if (trimmed.endsWith('/ping')) return text(200, 'ok')
    }
    if (trimmed === '/api' || trimmed === '/apis' || trimmed.startsWith('/api/') || trimmed.startsWith('/apis/')) {
      const document = this.#discovery.legacy(trimmed)
      if (document !== undefined) {
        const isYaml = headers['accept']?.includes('yaml') === true && negotiate(headers['accept']).format === 'yaml'
        return isYaml ? asYaml(json(200, document)) : json(200, document)
      }
      const [, root, group, version] = trimmed.split('/')
      if (root === 'api' && group) throw noSuchResource()
      if (version && this.#discovery.groups.some((served) => served.group === group)) throw noSuchResource()
    }
    return text(404, '404 page not found\n')
  }

  async #resource(
    head: ActingRequest,
    route: ResourceRoute,
    query: string,
    representation: Representation,
  ): Promise<ServerResponse> {
    const { catalog } = this.#options
    const { isWatch, options, includeObject } = parseQuery(query)
    const verb = verbOf(head.method, route, isWatch)
    const authorize = (user: User): void =>
      this.#authorize(user, verb ?? head.method.toLowerCase(), route, options.fieldSelector)
    authorize(head.user)
    const review = reviewFor(route.group, route.version, route.plural)
    if (review && !route.name) return this.#review(review, head, route, verb, options)
    const definition = catalog.find(route.group, route.version, route.plural)
    if (!definition) {
      // kube-apiserver serves groups of custom resources by other code, with a plain 404.
      const isServed = catalog.all().some(({ group, isBuiltIn }) => isBuiltIn && group === route.group)
      if (isServed) throw noSuchResource()
      return text(404, '404 page not found\n')
    }
    if (!verb) throw notAllowed()
    refuseExec(this.#options.storage, definition, route)
    checkRoute(definition, route, verb)
    const request = await withBody(head)
    if (route.subresource === 'token' && definition.bucket === 'serviceaccounts') {
      const { value } = await parseObject(request.body ?? '', false, 'TokenRequest')
      return json(201, JSON.stringify(requestToken(this.#options, route.namespace ?? '', route.name ?? '', value)))
    }
    if (route.subresource === 'log' && definition.bucket === 'pods') {
      const log = podLog(this.#options.storage, definition, route, query)
      if (log === undefined) return { status: 204, headers: {}, body: '' }
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: log }
    }
    const parsed = await this.#body(request, verb, definition)
    // A watch of one object by its path is a watch of the collection that selects it.
    const isNamedWatch = verb === 'watch' && route.name !== undefined
    const result = await this.#options.registry.handle({
      verb,
      definition,
      subresource: route.subresource,
      namespace: route.namespace,
      name: route.name,
      options: {
        ...(isDeletion(verb) ? await this.#deletion(request, options) : options),
        ...(isNamedWatch && { fieldSelector: `metadata.name=${route.name}` }),
      },
      body: parsed.value,
      ...(request.body !== undefined && { bodyLength: request.body.length }),
      ...(parsed.duplicateKeys && { duplicateKeys: parsed.duplicateKeys }),
      ...(verb === 'patch' && { patchType: mediaType(request.headers['content-type']) }),
      user: request.user,
      userAgent: request.headers['user-agent'] ?? '',
      signal: request.signal,
      ...(request.at !== undefined && { at: request.at }),
    })
    const response = this.#encode(result, { definition, representation, includeObject, now: this.#options.clock.now() })
    if (response.body instanceof WatchFeed)
      this.#watchAccess.follow(response.body, request.authenticated, request.headers, authorize)
    return response
  }

  async #review(
    review: NonNullable<ReturnType<typeof reviewFor>>,
    head: ActingRequest,
    route: ResourceRoute,
    verb: ResourceVerb | undefined,
    options: RequestOptions,
  ): Promise<ServerResponse> {
    if (verb !== 'create') throw notAllowed()
    const request = await withBody(head)
    const { value } = await parseObject(request.body ?? '', false, route.plural)
    // It is not stored, but the work for it grows with its size.
    refuseOversized(value)
    const reviewed = review(this.#options, { namespace: route.namespace, body: value, user: request.user })
    const manager = managerOf({ options, userAgent: request.headers['user-agent'] ?? '' })
    return json(201, JSON.stringify(withRequester(reviewed, manager, this.#options.clock.now())))
  }

  #authorize(user: User, verb: string, route: ResourceRoute, fieldSelector: string | undefined): void {
    if (user.groups.includes('system:masters')) return
    const { group, plural, subresource, namespace } = route
    const selected = verb === 'list' || verb === 'watch' ? selectedName(fieldSelector ?? '') : undefined
    // RBAC may allow only one name: a list or watch that selects that name is authorized for it.
    const name = route.name ?? (selected && pathSegment(selected).length === 0 ? selected : undefined)
    const resource = {
      group,
      plural,
      subresource,
      // A namespace is authorized in itself.
      namespace: namespace ?? (plural === 'namespaces' && group === '' ? route.name : undefined),
      name,
    }
    if (this.#options.authorizer.authorize({ user, verb, resource, path: '' }).allowed) return
    throw accessDenied(user, verb, resource)
  }

  async #body(request: ServerRequest, verb: ResourceVerb, definition: ResourceDefinition): Promise<ParsedBody> {
    const { body = '' } = request
    if (body.length > MAX_BODY_BYTES) throw tooLarge()
    const type = mediaType(request.headers['content-type'])
    switch (verb) {
      case 'create':
      case 'update': {
        const yaml = isYaml(type)
        checkReadable(request, () => objectPurpose(definition.kind, body))
        return parseObject(body, yaml, definition.kind, !definition.isBuiltIn)
      }
      case 'patch':
        checkPatchType(type, definition)
        checkReadable(request, () => patchPurpose(type))
        return type === APPLY_PATCH ? parseApplied(body) : parseBody(body, false, patchPurpose(type))
      default:
        return NOTHING
    }
  }

  async #deletion({ body = '', headers }: ServerRequest, query: RequestOptions): Promise<RequestOptions> {
    if (body === '') return query
    return withDeleteOptions(query, await parseDeleteOptions(body, isYaml(mediaType(headers['content-type']))))
  }

  #encode(result: ResourceResponse, options: EncodeOptions): ServerResponse {
    const { definition } = options
    switch (result.type) {
      case 'object': {
        // An object that is sent as stored need not be parsed.
        if (result.stored && options.representation.content === 'whole') {
          return reply(result.status, result.stored.json, result.warnings)
        }
        const object = result.stored?.object ?? result.object ?? {}
        return reply(result.status, encodeObject(object, result.stored, options), result.warnings)
      }
      case 'list':
        return reply(200, encodeList(result.items, result, options))
      case 'deleted': {
        const { name, uid, warnings } = result
        const { group, plural } = definition
        const details = { name, ...(group && { group }), kind: plural, uid }
        const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
        return reply(200, JSON.stringify(status), warnings)
      }
      default:
        return {
          status: 200,
          headers: PLAIN_HEADERS,
          body: new WatchFeed(result.session, options),
        }
    }
  }

  #errorResponse(thrown: unknown): ServerResponse {
    let error: StatusError
    if (thrown instanceof StatusError) error = thrown
    else {
      const cause = asError(thrown)
      this.#options.log.error('unhandled request error', { error: cause })
      error = new StatusError(500, 'InternalError', `Internal error occurred: ${cause.message}`, {
        causes: [{ message: cause.message }],
      })
    }
    const body = statusBody(error)
    const metadata = error instanceof ContinueExpired ? { continue: error.continueToken } : {}
    const response = reply(error.code, JSON.stringify({ ...body, metadata }), error.warnings)
    const wait = error.details?.retryAfterSeconds ?? (error.code === 429 ? 1 : undefined)
    return wait === undefined
      ? response
      : { ...response, headers: { ...response.headers, 'retry-after': String(wait) } }
  }
}

async function withBody<T extends ServerRequest>(request: T): Promise<T> {
  return request.readBody ? { ...request, ...(await request.readBody()) } : request
}
