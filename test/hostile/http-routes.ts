import { send } from './processes.ts'

/** The part of JSON schema that the generator understands. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly $ref?: string
}

/** A route as a server describes it. */
export interface HttpRoute {
  readonly method: string
  /** With parameters in braces: `/namespaces/{namespace}/applications`. */
  readonly path: string
  /** Names of the query parameters. */
  readonly query: readonly string[]
  /** Undefined: the route takes no body. */
  readonly body: Schema | undefined
  readonly statuses: readonly number[]
  /** The kind of the bodies; undefined if they are not objects of the API server. */
  readonly kind: ServedKind | undefined
}

export interface ServedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses?: Readonly<Record<string, unknown>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** Every route of the operators, from the server's own document: a new operator is attacked without a change here. */
export async function operatorRoutes(server: string, kinds: readonly ServedKind[]): Promise<readonly HttpRoute[]> {
  const { text } = await send({ method: 'GET', url: `${server}/openapi.json` })
  const { paths, components } = JSON.parse(text) as OpenApi
  const whole = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref === undefined ? schema : components?.schemas?.[schema.$ref.split('/').at(-1) ?? '']
  const kindOf = (path: string): ServedKind | undefined =>
    kinds.find(({ apiVersion, plural }) => path.startsWith(`/apis/${apiVersion}/`) && path.split('/').includes(plural))
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody, responses = {} }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      body: whole(Object.values(requestBody?.content ?? {})[0]?.schema),
      statuses: Object.keys(responses).map(Number),
      kind: kindOf(path),
    })),
  )
}

interface WebhookList {
  readonly items: readonly { readonly webhooks?: readonly { readonly clientConfig: { readonly url?: string } }[] }[]
}

/** The addresses of all registered webhooks. */
export async function webhookUrls(server: string, token: string): Promise<readonly string[]> {
  const lists = await Promise.all(
    ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].map(async (plural) => {
      const url = `${server}/apis/admissionregistration.k8s.io/v1/${plural}`
      const { text } = await send({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } })
      return (JSON.parse(text) as WebhookList).items
    }),
  )
  return lists
    .flat()
    .flatMap(({ webhooks = [] }) => webhooks)
    .flatMap(({ clientConfig: { url } }) => url ?? [])
}
