import { TenureError } from '@tenure/kube'
import type { Method, Route } from './route.ts'

interface Row {
  readonly segments: readonly string[]
  readonly methods: Set<Method>
  /** The first route of the path. */
  readonly route: Route
}

/** A path that exists. */
export interface KnownPath {
  /** The value of the `Allow` header. */
  readonly allow: string
  /** One of its routes, which shapes its failures. */
  readonly route: Route
}

/** The methods of each path, to distinguish a wrong method from a wrong path. */
export class PathTable {
  readonly #rows = new Map<string, Row>()

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const { method, path } = route
      const row = this.#rows.get(path)
      if (row?.methods.has(method)) {
        throw new TenureError('TENURE_HTTP_ROUTE', `${method} ${path} is declared twice: change one of the paths.`, {
          fate: 'bug',
        })
      }
      if (row) row.methods.add(method)
      else this.#rows.set(path, { segments: path.split('/'), methods: new Set([method]), route })
    }
  }

  /** Undefined if there is no such path. */
  find(url: string): KnownPath | undefined {
    const segments = (url.split('?', 1)[0] ?? '').split('/')
    const methods = new Set<string>()
    let route: Route | undefined
    for (const row of this.#rows.values()) {
      if (!matches(row.segments, segments)) continue
      route ??= row.route
      for (const method of row.methods) {
        methods.add(method)
        if (method === 'GET') methods.add('HEAD')
      }
    }
    return route && { allow: [...methods].join(', '), route }
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === '*') {
    return segments.length >= pattern.length && pattern.slice(0, -1).every((part, at) => isPart(part, segments[at]))
  }
  return pattern.length === segments.length && pattern.every((part, at) => isPart(part, segments[at]))
}

function isPart(part: string, segment: string | undefined): boolean {
  return part.startsWith(':') ? Boolean(segment) : part === segment
}
