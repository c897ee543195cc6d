import { setImmediate as nextTurn } from 'node:timers/promises'
import type { YamlValue } from '@tenure/yaml'

import { ListBody } from '../encoding/list-body.ts'
import type { WatchFeed } from '../watch/watch-feed.ts'

/** A response: a text, a long list, or the feed of a watch. */
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

/** Maximum characters of warnings in a response; beyond that, each is truncated. */
const MAX_WARNING_LENGTH = 4096
const LETTERS_OF_ONE = 256

/** Distinct warnings in order, as many as the header may hold. */
function warningHeader(warnings: readonly string[]): string {
  const all = [...new Set(warnings)]
  const isTooMuch = all.reduce((sum, warning) => sum + warning.length, 0) > MAX_WARNING_LENGTH
  const lines: string[] = []
  let written = 0
  for (const warning of all) {
    if (written >= MAX_WARNING_LENGTH) break
    const shown = isTooMuch ? firstLetters(warning, LETTERS_OF_ONE) : warning
    written += shown.length
    lines.push(warningLine(shown))
  }
  return lines.join(', ')
}

/** Cuts between characters. A character has at most two UTF-16 code units, so that a long text is not read to its end. */
function firstLetters(text: string, count: number): string {
  return Array.from(text.slice(0, count * 2))
    .slice(0, count)
    .join('')
}

export function warningLine(warning: string): string {
  return `299 - "${warning.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll(/\p{Cc}/gu, '?')}"`
}

/** Converts a response to YAML. The writer is loaded on demand, because it is rarely used. */
export async function asYaml(response: ServerResponse): Promise<ServerResponse> {
  const { body } = response
  const isJson = response.headers['content-type']?.startsWith('application/json')
  if (!(typeof body === 'string' || body instanceof ListBody) || !isJson) return response
  const { writeYaml } = await import('@tenure/yaml')
  const headers = { ...response.headers, 'content-type': 'application/yaml' }
  try {
    return { ...response, headers, body: await (typeof body === 'string' ? yamlOf(body) : yamlOfList(body)) }
  } catch (error) {
    const { message } = error as Error
    const failure = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code: 500, message }
    return { status: 500, headers, body: writeYaml(failure) }
  }
}

const NO_ITEMS = 'items: []\n'

/** Item by item: a long list takes long, and other requests are answered meanwhile. */
async function yamlOfList(list: ListBody): Promise<string> {
  const [start = '', end = ''] = (await yamlOf(list.emptyText())).split(NO_ITEMS)
  const items: string[] = []
  for (const item of list.itemTexts()) items.push(await yamlOf(`[${item}]`))
  return items.length === 0 ? start + NO_ITEMS + end : `${start}items:\n${items.join('')}${end}`
}

async function yamlOf(json: string): Promise<string> {
  const { readYaml, writeYaml } = await import('@tenure/yaml')
  // Kubernetes reads its JSON as YAML, which folds some line breaks and refuses some characters. Its JSON has these two
  // escaped.
  const { value } = readYaml(json.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`))
  await nextTurn()
  const text = writeYaml(value as YamlValue)
  await nextTurn()
  return text
}
