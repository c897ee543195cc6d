import type { Random } from '@tenure/kube'
import { randomBody } from './requests/random-body.ts'
import type { HttpRoute, Schema } from './http-routes.ts'
import type { Ending } from './raw-http.ts'

/** A request as bytes, with all that is needed to judge the response. */
export interface RawRequest {
  readonly what: string
  readonly bytes: Buffer
  readonly ending: Ending
  /** Callers without a token must get 401. */
  readonly isGuarded: boolean
  /** The server may close the connection without a response. */
  readonly mayBeDropped: boolean
}

/** Valid requests go here. */
const ATTACKED = 'hostile'
/** Requests that must be refused whatever they ask for go here, so that one that is carried out shows. */
const SPARED = 'innocent'
/** In the namespace that must not change. */
export const SPARED_NAME = 'kept'
const NAMES = ['app-0', 'app-1', 'app-2', 'app-3', 'app-4', 'app-5', SPARED_NAME, '']
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'CONNECT', 'get', 'X']
/** None of them is another spelling of the namespace or the object that must not change. */
const EVIL_SEGMENTS = [
  '.',
  '..',
  '%2e%2e',
  `..%2f${SPARED}`,
  `%2e%2e%2f${SPARED}`,
  `${ATTACKED}%2f..%2f${SPARED}`,
  `${ATTACKED}/../${SPARED}`,
  `../${SPARED}`,
  `..%5c${SPARED}`,
  `${SPARED}%00`,
  `${SPARED}%20`,
  `${SPARED}.`,
  `${SPARED}%2f`,
  `${SPARED};a=b`,
  SPARED.toUpperCase(),
  '%',
  '%zz',
  '%c0%af',
  '%ff%fe',
  '%f0%9f%92%a5',
  '__proto__',
  'constructor',
  'toString',
  '*',
  'x%2fstatus',
  '%0d%0aset-cookie:%20a=b',
  'a'.repeat(64),
  'a'.repeat(2_000),
  '',
  '/',
]
const EVIL_TEXTS = [
  '',
  ' ',
  '\0',
  '\u2028',
  '💥',
  '\ud800',
  '../../x',
  '__proto__',
  'constructor',
  '-1',
  '1e309',
  'NaN',
  '99999999999999999999',
  'a,b,!c,d in (e,f),g notin (h)',
  'a in (',
  '=,=,=',
  'metadata.name=kept',
  '2026-02-30T99:99:99Z',
  'P1Y',
  '$(A)$(B)$(A)',
  '${jndi:x}',
  '<script>',
  "' OR 1=1 --",
  'nginx:latest@sha256:0',
  'a'.repeat(300),
  '/'.repeat(300),
  '(a+)+$',
]
const EVIL_NUMBERS = [-1, 1.5, 1e308, -0, 2 ** 31, 2 ** 53, -(2 ** 63)]
const TYPES = ['application/json', 'application/json; charset=utf-7', 'application/x+json', 'text/plain', '', 'a/b;;']
/** Content types that a web page may send to another site without asking. */
const FORM_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a', 'text/json']
const FOREIGN_HOSTS = ['evil.example', '127.0.0.1.evil.example', 'localhost@evil.example', '169.254.169.254', 'x y']
const WRONG_TOKENS = ['', 'Bearer x', 'Bearer ', 'Basic YTpi', 'Bearer a.b.c', `Bearer ${'a'.repeat(5_000)}`, 'bearer']
const MAX_DEPTH = 12

/** How a request is hostile. */
const INTENTS = [
  'plain',
  'plain',
  'plain',
  'plain',
  'plain',
  'method',
  'path',
  'path',
  'cut',
  'host',
  'form',
  'token',
  'token',
  'framing',
  'garbage',
] as const
type Intent = (typeof INTENTS)[number]

export class RequestGenerator {
  readonly #random: Random
  readonly #routes: readonly HttpRoute[]
  /** Routes whose bodies have a schema. */
  readonly #described: readonly HttpRoute[]
  /** Host and port of the server, which the Host header names. */
  readonly #authority: string
  /** How likely wrong and optional parts of a body are, between 0 and 1: some bodies must be valid to reach the rest. */
  #wildness = 1

  constructor(random: Random, routes: readonly HttpRoute[], server: string) {
    this.#random = random
    this.#routes = routes
    this.#described = routes.filter(({ body }) => body?.properties)
    this.#authority = new URL(server).host
  }

  /** A request to a route that is hostile in one of many ways. */
  request(route: HttpRoute): RawRequest {
    const intent = this.#intentFor(route)
    const what = `${intent} ${route.method} ${route.path}`
    const plain = { what, ending: 'wait', isGuarded: false, mayBeDropped: false } as const
    if (intent === 'garbage') {
      const garbage = Buffer.concat([Buffer.from(this.#random.bytes(this.#below(2_000))), Buffer.from('\r\n\r\n')])
      return { ...plain, bytes: garbage, ending: 'close', mayBeDropped: true }
    }
    const method = intent === 'method' ? this.#pick(METHODS) : route.method
    const path = this.#target(route, intent)
    const headers = this.#headers(intent)
    const body = this.#chance(route.body ? 0.95 : 0.2) ? this.body(route) : Buffer.alloc(0)
    if (intent === 'cut') {
      const length = body.length + 1 + this.#below(100)
      // A whole object of which only the end of the request is missing is the one that a careless server stores.
      const sent = this.#chance(0.5) ? body : body.subarray(0, this.#below(body.length + 1))
      const bytes = join(method, path, [...headers, `content-length: ${length}`], sent)
      return { ...plain, bytes, ending: this.#pick(['close', 'reset'] as const), mayBeDropped: true }
    }
    if (intent === 'framing') return { ...plain, bytes: this.#misframed(route), ending: 'close', mayBeDropped: true }
    const isChunked = this.#chance(0.2)
    const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
    const bytes = join(method, path, [...headers, framing], isChunked ? this.#chunked(body) : body)
    // Node closes the connection of a CONNECT unless a program asks for it.
    return { ...plain, bytes, isGuarded: intent === 'token', mayBeDropped: method === 'CONNECT' }
  }

  #intentFor({ method }: HttpRoute): Intent {
    const intent = this.#pick(INTENTS)
    // A request without a body has no content type that could be wrong.
    return intent === 'form' && !['POST', 'PUT', 'PATCH'].includes(method) ? 'plain' : intent
  }

  /** A body for a route: mostly one that its schema allows in most places. */
  body(route: HttpRoute): Buffer {
    const kind = this.#random.fraction()
    this.#wildness = this.#pick([0, 0.1, 1])
    if (kind < 0.15) return Buffer.from(randomBody(this.#random).body)
    const value = JSON.stringify(this.#bodyValue(route)) ?? ''
    // A lone surrogate becomes invalid UTF-8 in some encoders.
    const bytes = Buffer.from(value, this.#chance(0.02) ? 'utf16le' : 'utf8')
    return kind < 0.2 ? bytes.subarray(0, this.#below(bytes.length)) : bytes
  }

  /** A body of up to `bytes` bytes with very much of one thing in a place that the schema allows. */
  largeBody(route: HttpRoute, bytes: number): Buffer {
    const value = { ...Object(this.#bodyValue(route)) } as Record<string, unknown>
    const places: Place[] = [{ holder: value, key: 'spec' }]
    collectPlaces(value, places)
    const { holder, key } = this.#pick(places)
    holder[key] = this.#large(bytes, holder[key])
    return Buffer.from(JSON.stringify(value)).subarray(0, bytes)
  }

  #bodyValue(route: HttpRoute): unknown {
    if (route.body?.properties || this.#described.length === 0) return this.#objectFor(route)
    // A schema without properties says nothing: a body of another route, and reviews of such objects.
    const other = this.#pick(this.#described)
    return this.#chance(0.1) ? this.#objectFor(other) : this.#reviewOf(other)
  }

  #objectFor({ body = {}, kind }: HttpRoute): unknown {
    const value = this.#valueOf(body, 0)
    if (!kind || typeof value !== 'object' || value === null) return value
    const { apiVersion, kind: name } = kind
    return { ...value, ...(this.#chance(0.9) && { apiVersion: this.#mostly(apiVersion), kind: this.#mostly(name) }) }
  }

  #reviewOf(route: HttpRoute): unknown {
    const { apiVersion = '', kind = '', plural = '' } = route.kind ?? {}
    const [group = '', version = ''] = apiVersion.split('/')
    return {
      apiVersion: this.#mostly('admission.k8s.io/v1'),
      kind: this.#mostly('AdmissionReview'),
      request: {
        uid: this.#mostly('705ab4f5-6393-11e8-b7cc-42010a800002'),
        kind: this.#mostly({ group, version, kind }),
        resource: this.#mostly({ group, version, resource: plural }),
        name: this.#mostly(this.#pick(NAMES)),
        namespace: this.#mostly(ATTACKED),
        operation: this.#mostly(this.#pick(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])),
        userInfo: this.#mostly({ username: 'u', groups: ['g'], extra: {} }),
        object: this.#objectFor(route),
        oldObject: this.#chance(0.5) ? this.#objectFor(route) : null,
        dryRun: this.#mostly(true),
      },
    }
  }

  #mostly(value: unknown): unknown {
    return this.#isWrong(0.03) ? this.#anything() : value
  }

  #anything(): unknown {
    return this.#pick([null, true, [], {}, [[[]]], { a: { b: null } }, ...EVIL_NUMBERS, ...EVIL_TEXTS])
  }

  #valueOf(schema: Schema, depth: number): unknown {
    if (depth > MAX_DEPTH || this.#isWrong(0.03)) return this.#anything()
    if (schema.const !== undefined) return this.#mostly(schema.const)
    if (schema.enum) return this.#mostly(this.#pick(schema.enum))
    const choices = schema.anyOf ?? schema.oneOf
    if (choices && choices.length > 0) return this.#valueOf(this.#pick(choices), depth)
    const type = Array.isArray(schema.type) ? this.#pick(schema.type as readonly string[]) : schema.type
    switch (type) {
      case 'object':
        return this.#objectOf(schema, depth)
      case 'array':
        return Array.from({ length: this.#below(4) }, () => this.#valueOf(schema.items ?? {}, depth + 1))
      case 'integer':
      case 'number':
        return this.#isWrong(0.05) ? this.#pick(EVIL_NUMBERS) : (schema.minimum ?? 0) + this.#below(3)
      case 'boolean':
        return this.#chance(0.5)
      case 'string':
        return this.#isWrong(0.1) ? this.#pick(EVIL_TEXTS) : this.#pick(['a', 'a1', 'nginx', '1Gi', '/a', ...NAMES])
      default:
        return this.#anything()
    }
  }

  #objectOf({ properties = {}, required = [], additionalProperties }: Schema, depth: number): object {
    const entries = Object.entries(properties)
      .filter(([name]) =>
        [...required, 'metadata'].includes(name) ? !this.#isWrong(0.02) : this.#chance(this.#wildness / 4),
      )
      .map(([name, schema]): [string, unknown] => [name, this.#propertyOf(name, schema, depth)])
    const more = typeof additionalProperties === 'object' ? additionalProperties : {}
    if (typeof additionalProperties === 'object' || this.#isWrong(0.05)) {
      for (let count = this.#below(4); count > 0; count--)
        entries.push([this.#pick(['a', 'b.c/d', 'constructor', ...EVIL_TEXTS]), this.#valueOf(more, depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  #propertyOf(name: string, schema: Schema, depth: number): unknown {
    if (name !== 'metadata') return this.#valueOf(schema, depth + 1)
    const metadata: Record<string, unknown> = { name: this.#mostly(this.#pick(NAMES)) }
    const texts = (): unknown => this.#objectOf({ additionalProperties: { type: 'string' } }, depth + 1)
    const rest: Record<string, () => unknown> = {
      labels: texts,
      annotations: texts,
      generateName: () => 'gen-',
      namespace: () => this.#pick([ATTACKED, SPARED, 'default']),
      uid: () => 'a',
      resourceVersion: () => this.#pick(['1', '', 'x', '1e300']),
      ownerReferences: () => [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }],
      deletionTimestamp: () => '2020-01-01T00:00:00Z',
      managedFields: () => [{ manager: 'x', operation: 'Apply', fieldsV1: { 'f:spec': {} } }],
    }
    for (const [key, make] of Object.entries(rest)) if (this.#isWrong(0.08)) metadata[key] = this.#mostly(make())
    return metadata
  }

  /** Very much of one thing: text, keys, items or depth. */
  #large(bytes: number, like: unknown): unknown {
    const item = JSON.stringify(like)?.length ?? 4
    return this.#pick([
      () => 'a'.repeat(bytes),
      () => `${'a/'.repeat(bytes / 4)}!`,
      () => Object.fromEntries(Array.from({ length: bytes / 20 }, (_, index) => [`k${index}`, ''])),
      () => Object.fromEntries(Array.from({ length: bytes / 20 }, (_, index) => [`/${index}`, null])),
      () => Array.from({ length: bytes / (item + 1) }, () => like),
      () => Array.from({ length: bytes / 30 }, (_, index) => ({ name: `n${index}`, port: index })),
      () => JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`) as unknown,
    ])()
  }

  #target(route: HttpRoute, intent: Intent): string {
    const isRefused = ['cut', 'host', 'form', 'token'].includes(intent)
    let isEvil = intent === 'path'
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const usual = name === 'namespace' ? (isRefused ? SPARED : ATTACKED) : isRefused ? SPARED_NAME : this.#pick(NAMES)
      if (!isEvil || this.#chance(0.3)) return usual
      isEvil = false
      return this.#pick(EVIL_SEGMENTS)
    })
    const query = route.query
      .filter(() => this.#chance(0.4))
      .map((name) => `${name}=${encodeURIComponent(this.#query(name))}`)
    if (this.#chance(0.1))
      query.push(this.#pick(['__proto__=a', 'a[b]=c', '%', '&&&', '=', 'constructor', 'a='.repeat(500)]))
    const whole = `${path}${query.length > 0 ? `?${query.join('&')}` : ''}`
    return isEvil ? `${whole}${this.#pick(['/', '//', '/%2e', '#a', ';a', '/../..', '%00', '?'])}` : whole
  }

  #query(name: string): string {
    const text = this.#chance(0.3) ? this.#pick([ATTACKED, 'app-0', 'a=b', '1', 'Application']) : this.#pick(EVIL_TEXTS)
    return (name === 'namespace' && this.#chance(0.5) ? ATTACKED : text).toWellFormed()
  }

  #headers(intent: Intent): string[] {
    const host = intent === 'host' ? this.#pick(FOREIGN_HOSTS) : this.#authority
    const type = intent === 'form' ? this.#pick(FORM_TYPES) : this.#chance(0.9) ? TYPES[0] : this.#pick(TYPES)
    const headers = [`host: ${host}`, 'connection: close', `content-type: ${type}`]
    if (intent === 'token') headers.push(`authorization: ${this.#pick(WRONG_TOKENS)}`)
    const more: Record<string, () => string> = {
      accept: () => this.#pick(['text/html', '*/*', 'a/b;q=2', 'a/b,'.repeat(500)]),
      'last-event-id': () => this.#pick(['0', '1', 'x', '9'.repeat(30), '-1', '1.1', '']),
      'if-match': () => '"1"',
      'content-encoding': () => this.#pick(['gzip', 'identity', 'x']),
      range: () => 'bytes=0-1,5-',
      origin: () => 'https://evil.example',
      'x-forwarded-host': () => 'evil.example',
      'x-http-method-override': () => 'DELETE',
      'x-request-id': () => 'a'.repeat(1_000),
      upgrade: () => this.#pick(['websocket', 'h2c']),
      expect: () => this.#pick(['100-continue', 'x']),
      te: () => 'trailers',
      __proto__x: () => 'a',
      cookie: () => 'a=b; '.repeat(100),
    }
    for (const [name, make] of Object.entries(more)) if (this.#chance(0.06)) headers.push(`${name}: ${make()}`)
    if (this.#chance(0.01)) for (let index = 0; index < 300; index++) headers.push(`x-${index}: a`)
    if (this.#chance(0.01)) headers.push(`x-long: ${'a'.repeat(20_000)}`)
    return headers
  }

  /** A request with a second one in its body, which a server that misreads the end of the first would carry out. */
  #misframed(route: HttpRoute): Buffer {
    const path = this.#target(route, 'plain')
    const victim = this.#pick(this.#routes.filter(({ method }) => ['DELETE', 'PUT'].includes(method)))
    const target = this.#target(victim, 'cut')
    const stolen = join(victim.method, target, [`host: ${this.#authority}`, 'content-length: 0'], Buffer.alloc(0))
    const body = Buffer.concat([Buffer.from('0\r\n\r\n'), stolen])
    const length = `content-length: ${body.length}`
    const framing = this.#pick([
      [length, 'transfer-encoding: chunked'],
      ['transfer-encoding: chunked', length],
      [length, 'transfer-encoding: xchunked'],
      [length, 'transfer-encoding:\tchunked'],
      [length, 'transfer-encoding: chunked, identity'],
      [length, 'transfer-encoding : chunked'],
      [length, 'content-length: 5'],
      ['content-length: 5', length],
      [`content-length: +${body.length}`],
      [`content-length: ${body.length}, 5`],
      [length, 'x: a\rtransfer-encoding: chunked'],
      [length, 'expect: 100-continue'],
    ])
    const type = this.#pick(['application/json', 'text/plain'])
    return join('POST', path, [`host: ${this.#authority}`, `content-type: ${type}`, ...framing], body)
  }

  #chunked(body: Buffer): Buffer {
    const at = this.#below(body.length + 1)
    const parts = [body.subarray(0, at), body.subarray(at)].filter((part) => part.length > 0)
    const chunks = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
    return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
  }

  #isWrong(probability: number): boolean {
    return this.#chance(probability * this.#wildness)
  }

  #chance(probability: number): boolean {
    return this.#random.fraction() < probability
  }

  #below(limit: number): number {
    return Math.floor(this.#random.fraction() * limit)
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[this.#below(from.length)]
    if (picked === undefined && from.length === 0) throw new Error('Nothing to pick from')
    return picked as T
  }
}

interface Place {
  readonly holder: Record<string, unknown>
  readonly key: string
}

/** Every place in a value, to put something else there. */
function collectPlaces(value: unknown, places: Place[]): void {
  if (typeof value !== 'object' || value === null) return
  const holder = value as Record<string, unknown>
  for (const key of Object.keys(holder)) {
    places.push({ holder, key })
    collectPlaces(holder[key], places)
  }
}

function join(method: string, path: string, headers: readonly string[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`), body])
}
