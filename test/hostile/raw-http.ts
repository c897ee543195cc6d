import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Received } from './processes.ts'

/** The sender's last step: wait for the response, or leave in one of two ways. */
export type Ending = 'wait' | 'close' | 'reset'

const MAX_RESPONSE_TIME_MS = 60_000

/**
 * Sends bytes that need not be a valid request and returns the first response. A stream of events is left after its
 * head. The status is 0 if there is no response.
 */
export function sendRaw(url: string, bytes: Buffer, ending: Ending): Promise<Received> {
  const { protocol, hostname, port } = new URL(url)
  const address = { host: hostname, port: Number(port) }
  return new Promise((resolve) => {
    const tcp = connectTcp(address)
    const socket = protocol === 'https:' ? connectTls({ socket: tcp, rejectUnauthorized: false }) : tcp
    const chunks: Buffer[] = []
    let failure = ''
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      const head = Buffer.concat(chunks.slice(0, 4)).toString('latin1', 0, 2_000)
      if (/^content-type: text\/event-stream/im.test(head)) socket.destroy()
    })
    socket.on('error', (error) => (failure = error.message))
    socket.setTimeout(MAX_RESPONSE_TIME_MS, () => socket.destroy(new Error('no response')))
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString()
      const status = Number(/^HTTP\/1\.1 (?!100)(\d{3})/m.exec(text)?.[1] ?? 0)
      resolve({ status, text: text || failure })
    })
    socket.write(bytes, () => {
      if (ending === 'close') socket.end()
      if (ending === 'reset') tcp.resetAndDestroy()
    })
  })
}
