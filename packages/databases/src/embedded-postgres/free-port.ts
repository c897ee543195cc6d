import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port on loopback that nothing listens on: `preferred` if that is free. */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer()
  try {
    server.listen(preferred, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  } catch (error) {
    if (preferred === 0) throw error
    return freePort()
  } finally {
    server.close()
  }
}
