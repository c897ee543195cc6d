/** A request without its server and credentials. */
export interface HostileRequest {
  readonly name: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly type: string
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
export const keys = (count: number, value: unknown = ''): Record<string, unknown> =>
  Object.fromEntries(many(count, (index) => [`k${index}`, value]))
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
export const items = (count: number, size: number): object[] => many(count, (index) => ({ name: `i${index}`, size }))
