/** The parts of a resource path. */
export interface ResourceRoute {
  readonly group: string
  readonly version: string
  readonly namespace: string | undefined
  readonly plural: string
  readonly name: string | undefined
  readonly subresource: string
  /** Below `/watch/`, the deprecated form of a watch. */
  readonly isWatch: boolean
}

/** Subresources of namespaces, whose paths look like resources in a namespace. */
const OF_NAMESPACES = new Set(['status', 'finalize'])

/** The route of `/api/v1/namespaces/default/pods/web/status`; undefined for other paths. */
export function parseRoute(path: string): ResourceRoute | undefined {
  const segments = path.split('/')
  const isCore = segments[1] === 'api'
  if (!isCore && segments[1] !== 'apis') return undefined
  const group = isCore ? '' : (segments[2] ?? '')
  const version = segments[isCore ? 2 : 3] ?? ''
  let at = isCore ? 3 : 4
  const isWatch = segments[at] === 'watch'
  if (isWatch) at++
  let namespace: string | undefined
  if (segments[at] === 'namespaces' && segments.length > at + 2 && segments[at + 2] !== '') {
    const isSubresource = segments.length === at + 3 && OF_NAMESPACES.has(segments[at + 2] ?? '')
    if (!isSubresource) {
      namespace = decode(segments[at + 1])
      at += 2
    }
  }
  const plural = segments[at]
  if (!plural || !version) return undefined
  const name = decode(segments[at + 1]) || undefined
  return { group, version, namespace, plural, name, subresource: segments.slice(at + 2).join('/'), isWatch }
}

function decode(segment: string | undefined): string {
  if (segment === undefined) return ''
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
