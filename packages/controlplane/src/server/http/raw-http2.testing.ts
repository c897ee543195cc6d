import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'

export interface RawConnection {
  readonly tcp: Socket
  readonly tls: TLSSocket
}

/** A TLS connection to a server. Errors are ignored: tests break it on purpose. */
export function connectRaw(url: string, protocol: 'h2' | 'http/1.1'): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const tcp = connectTcp(Number(port), hostname)
    const tls = connectTls({ socket: tcp, rejectUnauthorized: false, ALPNProtocols: [protocol] }, () =>
      resolve({ tcp, tls }),
    )
    tcp.on('error', reject)
    tls.on('error', reject)
  })
}

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, continuation: 9 } as const
export const END_STREAM = 1
export const END_HEADERS = 4
const ACK = 1

export interface Http2Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** An HTTP/2 client that sends any frame, because clients of Node end a stream before they reset it. */
export class RawHttp2 {
  readonly connection: RawConnection
  readonly frames: Http2Frame[] = []
  #rest = Buffer.alloc(0)
  #wake: (() => void) | undefined

  private constructor(connection: RawConnection) {
    this.connection = connection
    connection.tls.on('data', (data: Buffer) => this.#receive(data))
    connection.tls.on('close', () => this.#wake?.())
  }

  static async open(url: string): Promise<RawHttp2> {
    const client = new RawHttp2(await connectRaw(url, 'h2'))
    client.connection.tls.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    client.send(FRAME.settings, 0, 0, Buffer.alloc(0))
    client.send(FRAME.settings, ACK, 0, Buffer.alloc(0))
    await client.ping()
    return client
  }

  send(type: number, flags: number, stream: number, payload: Buffer): void {
    this.connection.tls.write(frame(type, flags, stream, payload))
  }

  headers(stream: number, headers: Readonly<Record<string, string>>, flags = 0): void {
    this.send(FRAME.headers, END_HEADERS | flags, stream, headerBlock(headers))
  }

  data(stream: number, text: string, flags = 0): void {
    this.send(FRAME.data, flags, stream, Buffer.from(text))
  }

  reset(stream: number, code: number): void {
    const payload = Buffer.alloc(4)
    payload.writeUInt32BE(code)
    this.send(FRAME.reset, 0, stream, payload)
  }

  goAway(code: number): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(code, 4)
    this.send(FRAME.goAway, 0, 0, payload)
  }

  /** The server answers after it has handled the frames before. */
  async ping(): Promise<void> {
    const answers = (): number => this.frames.filter(({ type, flags }) => type === FRAME.ping && flags === ACK).length
    const before = answers()
    this.send(FRAME.ping, 0, 0, Buffer.alloc(8))
    await this.until(() => answers() > before)
  }

  /** Waits until the frames meet a condition. Rejects if the connection ends before. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.connection.tls.closed || this.connection.tls.destroyed) throw new Error('The connection has ended')
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #receive(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data])
    for (;;) {
      if (this.#rest.length < 9) break
      const length = this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < 9 + length) break
      this.frames.push({
        type: this.#rest.readUInt8(3),
        flags: this.#rest.readUInt8(4),
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(9, 9 + length),
      })
      this.#rest = this.#rest.subarray(9 + length)
    }
    this.#wake?.()
  }
}

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Headers without compression. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), lengthAndText(name), lengthAndText(value)]),
  )
}

function lengthAndText(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length: number[] = []
  if (bytes.length < 127) length.push(bytes.length)
  else {
    length.push(127)
    let rest = bytes.length - 127
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128)
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), bytes])
}
