import { StatusError } from '../../errors.ts'

/** The representation of a response. */
export interface Representation {
  readonly format: 'json' | 'yaml'
  /** Which part of an object is sent. `aggregated` is for discovery. */
  readonly content: 'whole' | 'table' | 'metadata' | 'aggregated'
  /** `v1` of meta.k8s.io, or the version of apidiscovery.k8s.io. */
  readonly version: string
  /** Set if it was requested as a list. */
  readonly isList?: true
}

export const WHOLE: Representation = { format: 'json', content: 'whole', version: 'v1' }

interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

type NegotiationError = 'unknown type' | 'unknown content' | 'protobuf'

const cached = new Map<string, Representation | NegotiationError>()
/** Cached Accept headers. Clients send only a few, so the cache is a plain Map, read on every request, that rarely fills. */
const MAX_CACHED_HEADERS = 200

/** The first supported representation in an Accept header. Protobuf is not supported: clients then use JSON. */
export function negotiate(accept: string | undefined, isCollection = false): Representation {
  if (!accept || accept === 'application/json' || accept === '*/*') return WHOLE
  let chosen = cached.get(accept)
  if (!chosen) {
    chosen = choose(accept)
    if (cached.size >= MAX_CACHED_HEADERS) cached.clear()
    cached.set(accept, chosen)
  }
  if (typeof chosen === 'string') throw notAcceptable(chosen, isCollection)
  return chosen
}

const JSON_TYPES = 'application/json, application/yaml'
const TYPES = `${JSON_TYPES}, application/vnd.kubernetes.protobuf`
const WATCHED = ', application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'

/** kube-apiserver's error, except that a client that accepts only protobuf does not get protobuf as the advice. */
function notAcceptable(why: NegotiationError, isCollection: boolean): StatusError {
  if (why !== 'unknown type') {
    const types = why === 'protobuf' ? JSON_TYPES : TYPES
    return new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`)
  }
  const available = isCollection ? TYPES + WATCHED : TYPES
  return new StatusError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available}`, {})
}

/** Types that count as named; a type with a wildcard for one part does not. */
const NAMED = new Set(['application/json', 'application/yaml', '*/*'])
const BINARY = new Set(['application/vnd.kubernetes.protobuf', 'application/cbor'])

function choose(accept: string): Representation | NegotiationError {
  const clauses = accept
    .split(',')
    .map(parseClause)
    .toSorted((a, b) => b.quality - a.quality)
  const isNamed = clauses.some(({ type }) => NAMED.has(type))
  if (!isNamed && !clauses.some(({ type }) => BINARY.has(type))) return 'unknown type'
  for (const { type, parameters } of clauses) {
    const format = formatOf(type)
    const content = format && contentOf(parameters)
    if (content) return { format, ...content }
  }
  return isNamed ? 'unknown content' : 'protobuf'
}

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map(
    rest.map((part): [string, string] => {
      const equals = part.indexOf('=')
      return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)]
    }),
  )
  const quality = Number(parameters.get('q') ?? '1')
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 }
}

function formatOf(type: string): Representation['format'] | undefined {
  switch (type) {
    case 'application/json':
    case 'application/*':
    case '*/*':
      return 'json'
    case 'application/yaml':
      return 'yaml'
    default:
      return undefined
  }
}

function contentOf(parameters: ReadonlyMap<string, string>): Omit<Representation, 'format'> | undefined {
  const as = parameters.get('as')
  if (as === undefined) return { content: 'whole', version: 'v1' }
  const group = parameters.get('g')
  const version = parameters.get('v') ?? ''
  if (group === 'apidiscovery.k8s.io' && as === 'APIGroupDiscoveryList' && version === 'v2') {
    return { content: 'aggregated', version }
  }
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as === 'Table') return { content: 'table', version }
  if (as === 'PartialObjectMetadata') return { content: 'metadata', version }
  return as === 'PartialObjectMetadataList' ? { content: 'metadata', version, isList: true } : undefined
}
