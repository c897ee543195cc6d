import { ListBody } from './list-body.ts'
import type { WatchFeed } from './watch-feed.ts'

/** An answer: its text, a list that is long, or the feed of a watch. */
export interface ServerResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ListBody | WatchFeed
}

export const text = (status: number, body: string): ServerResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

export const json = (status: number, body: string): ServerResponse => reply(status, body)

export const PLAIN_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }

export function reply(status: number, body: string | ListBody, warnings: readonly string[] = []): ServerResponse {
  const headers = warnings.length === 0 ? PLAIN_HEADERS : { ...PLAIN_HEADERS, warning: warningHeader(warnings) }
  return { status, headers, body: typeof body === 'string' ? `${body}\n` : body }
}

/** Each warning once, in order, and no more of them than a header may hold. */
function warningHeader(warnings: readonly string[]): string {
  const lines = [...new Set(warnings)].map(
    (warning) => `299 - "${warning.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll(/[^\x20-\x7E]/g, '?')}"`,
  )
  let header = ''
  for (const line of lines) {
    if (header.length + line.length > 4096) break
    header += header ? `, ${line}` : line
  }
  return header
}

/** For who asks to read it as YAML. Loaded then: hardly anybody does. */
export async function asYaml(response: ServerResponse): Promise<ServerResponse> {
  const body = response.body instanceof ListBody ? response.body.text() : response.body
  if (typeof body !== 'string' || !response.headers['content-type']?.startsWith('application/json')) return response
  const { dump } = await import('js-yaml')
  return {
    ...response,
    headers: { ...response.headers, 'content-type': 'application/yaml' },
    body: dump(JSON.parse(body), { sortKeys: true, lineWidth: -1, noRefs: true }),
  }
}
