import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { listeningSockets, portHolder } from './port-holder.ts'

test('the sockets that listen on a port are found', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0000
   1: 0100007F:0BB8 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000     0        0 12346 1 0000
   2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12347 1 0000
`
  expect(listeningSockets(table, 3000)).toEqual(['socket:[12345]'])
  expect(listeningSockets(table, 8080)).toEqual(['socket:[12347]'])
  expect(listeningSockets(table, 80)).toEqual([])
})

test.runIf(process.platform === 'linux')('the holder of a port is found, and a free port has none', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await portHolder(port)).toEqual({ pid: process.pid, command: expect.stringContaining('node') })
  await new Promise((resolve) => server.close(resolve))
  expect(await portHolder(port)).toBeUndefined()
})
