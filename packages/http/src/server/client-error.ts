import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** Responds to data that is not a valid HTTP request, and closes the connection. */
export function respondToClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  respondAndClose(socket, responseTo(error.code))
}

/** Responds to CONNECT. Node would close the connection without a response. */
export function respondToConnect(_request: unknown, socket: Duplex): void {
  socket.resume()
  respondAndClose(socket, responseTo('HPE_INVALID_METHOD'))
}

type BareResponse = readonly [status: number, message: string, headers?: string]

function respondAndClose(socket: Duplex, [status, message, more = '']: BareResponse): void {
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${message}\r\n${more}Content-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  socket.on('error', () => undefined)
  // A client that does not read the response must not keep the connection.
  if (socket instanceof Socket) socket.setTimeout(5_000, () => socket.destroy())
}

function responseTo(code: string | undefined): BareResponse {
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
