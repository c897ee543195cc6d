/** The place in the page, from the part of the URL after `#`. */
export interface PageRoute {
  /** Decoded: `['applications', 'default', 'web']`. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export function parseRoute(hash: string): PageRoute {
  const text = hash.replace(/^#/, '')
  const question = text.indexOf('?')
  const path = question < 0 ? text : text.slice(0, question)
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    query: Object.fromEntries(new URLSearchParams(question < 0 ? '' : text.slice(question + 1))),
  }
}

/** The hash of a place; undefined and empty values are left out. */
export function formatRoute(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const values = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') values.set(name, value)
  }
  const text = values.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A URL that was cut or typed by hand.
    return part
  }
}

/** The hash of the page of one object. */
export function objectRoute(object: {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}): string {
  const { apiVersion, kind, namespace, name } = object
  return formatRoute(['object'], { apiVersion, kind, namespace, name })
}

/** The sort order in a URL: `name`, or `-name` for descending. */
export function parseSort(
  text: string | undefined,
  fallback: string,
): { readonly sort: string; readonly isDescending: boolean } {
  const value = text || fallback
  return value.startsWith('-') ? { sort: value.slice(1), isDescending: true } : { sort: value, isDescending: false }
}
