import type { Socket } from 'node:net'

const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** Answers what is no HTTP request at all, or never becomes one; then the connection ends. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message, more = ''] = answerTo(error.code)
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${message}\r\n${more}Content-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // Whoever does not take the answer keeps no connection by that.
  socket.setTimeout(5_000, () => socket.destroy())
}

function answerTo(code: string | undefined): readonly [status: number, message: string, headers?: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'Request Header Fields Too Large']
    case 'HPE_INVALID_METHOD':
      return [405, 'Method Not Allowed', `Allow: ${ALL_METHODS}\r\n`]
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'Request Timeout']
    default:
      return [400, 'Bad Request']
  }
}
