import type { IncomingMessage, ServerResponse } from 'node:http'

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  // The client may have disconnected while a check ran.
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

/** Answers 405 and returns true unless the method is GET or HEAD. */
export function rejectUnlessRead(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return false
  response.setHeader('allow', 'GET, HEAD')
  // The body is not read, so the connection cannot be reused.
  response.setHeader('connection', 'close')
  sendText(response, 405, 'method not allowed\n')
  return true
}

/** Path and query of a request. `new URL` throws on some paths that clients send (`//`). */
export function targetOf(request: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  return { path, query: new URLSearchParams(query) }
}
