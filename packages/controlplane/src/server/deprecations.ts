/** Kinds that are no longer to be used, which every answer about them says. */
import type { ServerResponse } from './replies.ts'
import { warningLine } from './replies.ts'

export function withDeprecation(response: ServerResponse, warning: string | undefined): ServerResponse {
  if (warning === undefined) return response
  const others = response.headers['warning']
  const line = warningLine(warning)
  return { ...response, headers: { ...response.headers, warning: others ? `${line}, ${others}` : line } }
}
