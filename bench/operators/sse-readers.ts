import { connect } from 'node:net'
import type { Socket } from 'node:net'

/**
 * Readers of `/watch` on plain sockets. They record only when each resourceVersion arrived, so that 500 of them are
 * cheap.
 */
export class SseReaders {
  readonly #sockets: Socket[] = []
  /** Per reader: arrival time by event id. */
  readonly seen: Map<string, number>[] = []

  static async open(port: number, count: number): Promise<SseReaders> {
    const readers = new SseReaders()
    for (let index = 0; index < count; index++) await readers.#add(port)
    return readers
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #add(port: number): Promise<void> {
    const seen = new Map<string, number>()
    const socket = connect(port, '127.0.0.1')
    this.#sockets.push(socket)
    this.seen.push(seen)
    socket.setEncoding('latin1')
    socket.write('GET /watch HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    let rest = ''
    const opened = Promise.withResolvers<void>()
    socket.on('error', opened.reject)
    socket.on('data', (text: string) => {
      opened.resolve()
      const now = performance.now()
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('id: ')) seen.set(line.slice(4).trim(), now)
    })
    await opened.promise
  }
}
