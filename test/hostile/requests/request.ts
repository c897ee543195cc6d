import { MAX_STORED_BYTES } from '../../../packages/controlplane/src/model/object-size.ts'

/** A request without its server and credentials. */
export interface HostileRequest {
  readonly name: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly type: string
  /** Large bodies are made when they are read: all of them together would fill the memory. */
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Just below the limit of a body, so that it is not refused for its size. */
export const MAX_BYTES = 3_000_000
export const MAPS = '/api/v1/namespaces/hostile/configmaps'
export const CORE = '/api/v1/namespaces/hostile'
export const WIDGETS = '/apis/hostile.example.dev/v1/namespaces/hostile/widgets'
export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
export const APPLY = 'application/apply-patch+yaml'
export const JSON_PATCH = 'application/json-patch+json'
export const MERGE = 'application/merge-patch+json'
export const STRATEGIC = 'application/strategic-merge-patch+json'
export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const shortNames: string[] = []
/** A short name that differs from the others; all are of the same length, so that the size of many is known. */
export const short = (index: number): string => (shortNames[index] ??= `k${(index + 36 ** 3).toString(36)}`)
export function keys(count: number, value: unknown = '', prefix = ''): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (let index = 0; index < count; index++) object[prefix + short(index)] = value
  return object
}
export const json = (value: unknown): string => JSON.stringify(value)
let names = 0
/** A refused name must not make the next request a conflict. */
export const unique = (): string => `hostile-${++names}`
export const object = (kind: string, name: string, rest: object, apiVersion = 'v1'): string =>
  json({ apiVersion, kind, metadata: { name }, ...rest })
export const post = (name: string, path: string, body: string | Buffer, type = JSON_TYPE): HostileRequest => ({
  name,
  method: 'POST',
  path,
  type,
  body,
})
export const patch = (name: string, path: string, type: string, body: string): HostileRequest => ({
  name,
  method: 'PATCH',
  path,
  type,
  body,
})

/** As many repetitions of a text as fit. */
export const filled = (start: string, part: string, end: string): string =>
  start + part.repeat(Math.floor((MAX_BYTES - start.length - end.length) / part.length)) + end

export const widget = (rest: object): string => object('Widgets', unique(), rest, 'hostile.example.dev/v1')
export const items = (count: number, size: number): object[] => many(count, (index) => ({ name: short(index), size }))

/** The text of as many items as fit into this many bytes. */
export function sized(limit: number, make: (count: number) => string): string {
  const [few, more] = [make(1_000).length, make(2_000).length]
  let count = 1_000 + Math.floor(((limit - few) * 1_000) / (more - few))
  for (;;) {
    const text = make(count)
    if (text.length <= limit) return text
    count = Math.floor((count * limit) / text.length) - 1
  }
}

interface Size {
  readonly size: string
  readonly limit: number
}
const BODY: Size = { size: 'a body of 3 MB', limit: MAX_BYTES }
/** Some of these are refused with their managed fields, and others are validated and stored. */
const OBJECTS: readonly Size[] = [
  { size: 'an object of 1.5 MB', limit: MAX_STORED_BYTES },
  { size: 'an object of 0.7 MB', limit: 0.45 * MAX_STORED_BYTES },
]
export const SIZES: readonly Size[] = [BODY, ...OBJECTS]

/** The request with a body that is made when it is read. */
export const lazy = (request: HostileRequest, make: () => string): HostileRequest => ({
  ...request,
  get body() {
    return make()
  },
})

/** A POST of as many items as an object may have. A larger body is refused as soon as it is parsed. */
export const large = (
  name: string,
  path: string,
  make: (count: number) => string,
  sizes: readonly Size[] = OBJECTS,
): HostileRequest[] =>
  sizes.map(({ size, limit }) => lazy(post(`${name}, ${size}`, path, ''), () => sized(limit, make)))

/** As `large`, and also as large as a body may be: once for each form of JSON. */
export const largest = (name: string, path: string, make: (count: number) => string): HostileRequest[] =>
  large(name, path, make, SIZES)

/** A PATCH of as many items as fit. Patches are applied before the size of the result is known. */
export const largePatch = (
  name: string,
  path: string,
  type: string,
  make: (count: number) => string,
): HostileRequest[] =>
  SIZES.slice(0, 2).map(({ size, limit }) => lazy(patch(`${name}, ${size}`, path, type, ''), () => sized(limit, make)))
