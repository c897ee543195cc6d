import { TenureError } from '@tenure/kube'
import type { Method, Route } from './route.ts'

interface Row {
  readonly segments: readonly string[]
  readonly methods: Set<Method>
}

/** The methods of each path, to distinguish a wrong method from a wrong path. */
export class PathTable {
  readonly #rows = new Map<string, Row>()

  constructor(routes: readonly Pick<Route, 'method' | 'path'>[]) {
    for (const { method, path } of routes) {
      const row = this.#rows.get(path)
      if (row?.methods.has(method)) {
        throw new TenureError('TENURE_HTTP_ROUTE', `${method} ${path} is declared twice: change one of the paths.`, {
          fate: 'bug',
        })
      }
      if (row) row.methods.add(method)
      else this.#rows.set(path, { segments: path.split('/'), methods: new Set([method]) })
    }
  }

  /** The `Allow` header of a path; undefined if there is no such path. */
  allowed(url: string): string | undefined {
    const segments = (url.split('?', 1)[0] ?? '').split('/')
    const methods = new Set<string>()
    for (const row of this.#rows.values()) {
      if (!matches(row.segments, segments)) continue
      for (const method of row.methods) {
        methods.add(method)
        if (method === 'GET') methods.add('HEAD')
      }
    }
    return methods.size > 0 ? [...methods].join(', ') : undefined
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
