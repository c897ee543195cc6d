import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** Answers what is no HTTP request at all, or never becomes one; then the connection ends. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  answerAndClose(socket, answerTo(error.code))
}

/** Answers a request for a tunnel. Node would end the connection without a word. */
export function answerConnect(_request: unknown, socket: Duplex): void {
  socket.resume()
  answerAndClose(socket, answerTo('HPE_INVALID_METHOD'))
}

type BareAnswer = readonly [status: number, message: string, headers?: string]

function answerAndClose(socket: Duplex, [status, message, more = '']: BareAnswer): void {
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${message}\r\n${more}Content-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  socket.on('error', () => undefined)
  // Whoever does not take the answer keeps no connection by that.
  if (socket instanceof Socket) socket.setTimeout(5_000, () => socket.destroy())
}

function answerTo(code: string | undefined): BareAnswer {
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
