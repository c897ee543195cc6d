import { z } from 'zod'
import { json, type HttpResponse } from './response.ts'
import { type HttpRequest, type RequestHead, type Route, route } from './route.ts'

/** Answers a browser's `GET /`. The page must hold no data: everyone may load it. */
export type RootPage = (request: HttpRequest) => HttpResponse

/** Serves a page at `/` to browsers; programs still get the JSON of the route for `/`, or the name of the server. */
export function withRootPage(routes: readonly Route[], page: RootPage | undefined, name: string): readonly Route[] {
  if (!page) return routes
  const root = routes.find(isRoot) ?? nameRoute(name)
  return [
    ...routes.filter((each) => !isRoot(each)),
    {
      ...root,
      accessOf: (request) => (wantsPage(request) ? 'public' : root.accessOf(request)),
      before: (request) => root.before(request),
      handle: (request) => (wantsPage(request) ? Promise.resolve(page(request)) : root.handle(request)),
      shapeFailure: (failure) => root.shapeFailure(failure),
    },
  ]
}

const isRoot = ({ method, path }: Route): boolean => method === 'GET' && path === '/'

function wantsPage({ headers }: RequestHead): boolean {
  return typeof headers['accept'] === 'string' && headers['accept'].includes('text/html')
}

function nameRoute(name: string): Route {
  return route({
    method: 'GET',
    path: '/',
    summary: 'The name of this server; a browser gets the dashboard',
    tags: ['meta'],
    access: 'public',
    responses: { 200: { description: 'The name', schema: z.object({ name: z.string(), openApi: z.string() }) } },
    handle: () => json(200, { name, openApi: '/openapi.json' }, { headers: { vary: 'accept' } }),
  })
}
