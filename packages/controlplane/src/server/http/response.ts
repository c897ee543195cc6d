import { ListBody } from '../encoding/list-body.ts'
import type { WatchFeed } from '../watch/watch-feed.ts'

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

/** So many letters of warnings go into an answer; if there are more, each is cut short. */
const MOST_LETTERS = 4096
const LETTERS_OF_ONE = 256

/** Each warning once, in order, and no more of them than a header may hold. */
function warningHeader(warnings: readonly string[]): string {
  const all = [...new Set(warnings)]
  const isTooMuch = all.reduce((sum, warning) => sum + warning.length, 0) > MOST_LETTERS
  const lines: string[] = []
  let written = 0
  for (const warning of all) {
    if (written >= MOST_LETTERS) break
    const shown = isTooMuch ? Array.from(warning).slice(0, LETTERS_OF_ONE).join('') : warning
    written += shown.length
    lines.push(warningLine(shown))
  }
  return lines.join(', ')
}

export function warningLine(warning: string): string {
  return `299 - "${warning.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll(/\p{Cc}/gu, '?')}"`
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
