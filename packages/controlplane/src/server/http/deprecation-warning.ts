/** The warning in every response for a deprecated kind. */
import type { ServerResponse } from './response.ts'
import { warningLine } from './response.ts'

export function withDeprecation(response: ServerResponse, warning: string | undefined): ServerResponse {
  if (warning === undefined) return response
  const others = response.headers['warning']
  const line = warningLine(warning)
  return { ...response, headers: { ...response.headers, warning: others ? `${line}, ${others}` : line } }
}
