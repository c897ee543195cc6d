import type { IncomingMessage, ServerResponse } from 'node:http'

export function answerText(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  // The client may have left while a check ran.
  if (response.writableEnded || response.destroyed) return
  const body = Buffer.from(text)
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': body.length,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(body)
}

/** Answers 405 and says true unless the request only reads. */
export function refuseUnlessRead(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return false
  response.setHeader('allow', 'GET, HEAD')
  // What it may be sending is not read: the connection ends with the answer.
  response.setHeader('connection', 'close')
  answerText(response, 405, 'method not allowed\n')
  return true
}

/** Path and query of a request. Not `new URL`, which throws at what a stranger may send (`//`). */
export function targetOf(request: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  return { path, query: new URLSearchParams(query) }
}
