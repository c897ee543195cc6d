import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'

// Below the range of ephemeral ports: a port inside it could be taken by any client while an API server restarts.
const MIN_PORT = 15_000
const MAX_PORT = 32_000

/** Returns `count` different loopback ports that were free a moment ago. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  for (let attempts = 0; ports.size < count; attempts++) {
    if (attempts > 1_000) throw new Error(`No free loopback port found between ${MIN_PORT} and ${MAX_PORT}`)
    const candidate = randomInt(MIN_PORT, MAX_PORT)
    if (await isFree(candidate)) ports.add(candidate)
  }
  return [...ports]
}

/** Returns true if the loopback port can be listened on. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** Returns true if something accepts connections at this loopback port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
