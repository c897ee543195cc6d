/** A request as a command for a shell. The token is read from a variable: a secret does not belong into a clipboard. */
export function curlCommand(request: {
  readonly method: string
  readonly url: string
  readonly body?: unknown
  readonly isAuthenticated: boolean
}): string {
  const { method, url, body, isAuthenticated } = request
  const parts = ['curl', '-X', method]
  if (isAuthenticated) parts.push('-H', '"Authorization: Bearer $TOKEN"')
  if (body !== undefined) parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(body)))
  return [...parts, quoted(url)].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
