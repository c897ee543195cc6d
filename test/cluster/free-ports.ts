import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'

// Below the range from which systems take the local ports of outgoing connections. A port from inside it could be
// lost to any client while an API server that is to come back at its address is down.
const LOWEST = 15_000
const HIGHEST = 32_000

/** `count` different loopback ports that nobody listened on a moment ago. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  for (let attempts = 0; ports.size < count; attempts++) {
    if (attempts > 1_000) throw new Error(`no free loopback port found between ${LOWEST} and ${HIGHEST}`)
    const candidate = randomInt(LOWEST, HIGHEST)
    if (await isFree(candidate)) ports.add(candidate)
  }
  return [...ports]
}

/** Whether one could listen at this loopback port. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** Whether someone takes connections at this loopback port. */
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
