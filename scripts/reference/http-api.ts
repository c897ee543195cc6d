import type { Access, RequestHead, Route } from '@tenure/http'
import type { OperatorFacts } from './collect.ts'
import { code, table } from './markdown.ts'

const INTRODUCTION = `# HTTP API

Generated from the routes of the running operators and their OpenAPI documents, by \`npm run reference\`: do not edit. Every server serves its own document
at \`/openapi.json\`.

On a loopback address callers need no token. On any other address they send \`Authorization: Bearer …\` with a token that the API server accepts, unless \`AUTH\`
is \`none\`, and RBAC decides about the access in the column "needs": a verb on a resource, or on a path (\`nonResourceURLs\`).
Errors are \`{"error", "details"?}\`, those of claims plain text; [their codes](errors.md#http) are in the log. Every route can also answer 401, 403, 429 (with
\`Retry-After\`), 503 and 504.
`

interface Described {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

interface Operation {
  readonly method: string
  readonly path: string
  readonly described: Described
  readonly route: Route | undefined
}

/** Returns the reference page of all HTTP routes. */
export function httpReference(facts: readonly OperatorFacts[]): string {
  const served = facts.filter(({ routes }) => routes.length > 0)
  const all = served.map((each) => ({ ...each, operations: operationsOf(each) }))
  const counts = new Map<string, number>()
  for (const key of all.flatMap(({ operations }) => operations.map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1)
  const isShared = (operation: Operation): boolean => counts.get(keyOf(operation)) === all.length
  const shared = all[0]?.operations.filter((each) => isShared(each) && !isView(each)) ?? []
  const views = all.flatMap(({ operations }) => operations.filter(isView))
  return [
    INTRODUCTION,
    ...all.map(({ name, operations, summary }) =>
      section(
        `tenure ${name}`,
        summary,
        operations.filter((each) => !isShared(each) && !isView(each)),
      ),
    ),
    section(
      'Every operator',
      'For the dashboard and for programs. A view is a list of objects or rows, in pages.',
      shared,
    ),
    viewsSection(views),
  ].join('\n')
}

function operationsOf({ openapi, routes }: OperatorFacts): readonly Operation[] {
  const { paths } = openapi as { readonly paths: Paths }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // The files of the page are not an interface.
      .filter(([method]) => method !== 'head' && !/\/app\.(?:css|js)$/.test(path))
      .map(([method, described]) => ({
        method: method.toUpperCase(),
        path,
        described,
        route: routes.find((each) => each.method === method.toUpperCase() && inBraces(each.path) === path),
      })),
  )
}

const isView = ({ path }: Operation): boolean => path.startsWith('/api/v1/views/')

/** The views differ in their rows only. */
function viewsSection(views: readonly Operation[]): string {
  const [view] = views
  if (!view) return ''
  const names = [...new Set(views.map(({ path }) => code(path.slice('/api/v1/views/'.length))))].toSorted()
  const summary = `The rows of a view that match, in pages. The views: ${names.join(', ')}`
  return operationSection({ ...view, path: '/api/v1/views/{view}', described: { ...view.described, summary } })
}

const keyOf = ({ method, path }: Operation): string => `${method} ${path}`
const inBraces = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

function section(title: string, text: string, operations: readonly Operation[]): string {
  return [`## ${title}\n\n${text}\n`, ...operations.map(operationSection)].join('\n')
}

function operationSection({ described, method, path, route }: Operation): string {
  const { description, parameters = [], requestBody, responses = {}, summary = '' } = described
  const query = parameters.filter((each) => each.in === 'query').map(({ name }) => code(name))
  const [body] = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
  const needs = route ? accessText(route) : undefined
  const facts = [
    needs !== undefined && `- Needs: ${needs}`,
    query.length > 0 && `- Query: ${query.join(', ')}`,
    body && `- Body: ${bodyText(body)}`,
  ].filter((line) => line !== false && line !== undefined)
  const rows = Object.entries(responses).map(([status, response]) => [status, response.description ?? ''])
  return [
    `### ${method} ${path}\n\n${summary}.${description ? ` ${description}` : ''}\n`,
    ...(facts.length > 0 ? [`${facts.join('\n')}\n`] : []),
    table(['Status', 'Meaning'], rows),
  ].join('\n')
}

function bodyText(schema: Schema): string {
  const fields = Object.keys(schema.properties ?? {}).map((name) => {
    const optional = schema.required?.includes(name) ? '' : ' (optional)'
    return `${code(name)}${optional}`
  })
  return fields.length > 0 ? fields.join(', ') : 'see the OpenAPI document'
}

/** The access that the route asks for before it reads the body. */
function accessText(route: Route): string {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const params = Object.fromEntries(names.map((name) => [name, `{${name}}`]))
  const access = route.accessOf({ params, query: {}, headers: {} } as unknown as RequestHead)
  return describe(access)
}

function describe(access: Access): string {
  if (access === 'public') return 'nothing'
  if ('path' in access) return `${code(access.verb)} on the path ${code(inBraces(access.path))}`
  if (access.resource === 'selfsubjectaccessreviews') return 'an account; each object is checked on its own'
  const where = access.namespace === undefined ? '' : ` in the namespace ${code(access.namespace)}`
  return `${code(access.verb)} on ${code(`${access.resource}.${access.group}`)}${where}`
}
