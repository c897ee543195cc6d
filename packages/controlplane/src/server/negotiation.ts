import { StatusError } from '../errors.ts'

/** How an answer is written. */
export interface Representation {
  readonly format: 'json' | 'yaml'
  /** What of an object is shown. Discovery has a form of its own. */
  readonly form: 'whole' | 'table' | 'metadata' | 'aggregated'
  /** `v1` of meta.k8s.io, or the version of apidiscovery.k8s.io. */
  readonly version: string
}

export const WHOLE: Representation = { format: 'json', form: 'whole', version: 'v1' }

interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

const remembered = new Map<string, Representation | StatusError>()
/** Programs send one of a handful of Accept headers; a limit keeps others from filling the memory. */
const MOST_REMEMBERED = 200

/** The first representation in an Accept header that we have. Protobuf is none: clients then take JSON. */
export function negotiate(accept: string | undefined): Representation {
  if (!accept || accept === 'application/json' || accept === '*/*') return WHOLE
  let chosen = remembered.get(accept)
  if (!chosen) {
    chosen = choose(accept)
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(accept, chosen)
  }
  if (chosen instanceof StatusError) throw chosen
  return chosen
}

function choose(accept: string): Representation | StatusError {
  const clauses = accept
    .split(',')
    .map(parseClause)
    .toSorted((a, b) => b.quality - a.quality)
  let isKnownType = false
  for (const { type, parameters } of clauses) {
    const format = formatOf(type)
    if (!format) {
      isKnownType ||= type === 'application/vnd.kubernetes.protobuf' || type === 'application/cbor'
      continue
    }
    isKnownType = true
    const form = formOf(parameters)
    if (form) return { format, ...form }
  }
  return isKnownType
    ? new StatusError(
        406,
        'NotAcceptable',
        'only the following media types are accepted: application/json, application/yaml',
      )
    : new StatusError(
        406,
        'NotAcceptable',
        '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/json;stream=watch',
        {},
      )
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

function formOf(parameters: ReadonlyMap<string, string>): Omit<Representation, 'format'> | undefined {
  const as = parameters.get('as')
  if (as === undefined) return { form: 'whole', version: 'v1' }
  const group = parameters.get('g')
  const version = parameters.get('v') ?? ''
  if (group === 'apidiscovery.k8s.io' && as === 'APIGroupDiscoveryList' && version === 'v2') {
    return { form: 'aggregated', version }
  }
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as === 'Table') return { form: 'table', version }
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
    ? { form: 'metadata', version }
    : undefined
}
