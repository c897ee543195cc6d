/**
 * Joins or hosts the given data directory with a small server on a real storage: GET returns the pid and the stored
 * value, PUT /key/value stores. Prints a line for each membership change.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type KubeObject } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { openStorage } from '../../storage/open.ts'
import { joinOrHost, type HostedServer, type StartContext } from '../join.ts'

const nothing = (): void => undefined
const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log }
const [directory = ''] = process.argv.slice(2)

async function start({ address }: StartContext): Promise<HostedServer> {
  const storage = await openStorage({ directory, clock: systemClock, log })
  const server = createServer((request, response) => {
    const answer = (): void => {
      const keys = Array.from(storage.range('things'), ({ key }) => key)
      response.end(JSON.stringify({ pid: process.pid, revision: storage.revision, keys }))
    }
    if (request.method !== 'PUT') answer()
    else void storage.write('things', (request.url ?? '').slice(1), () => ({ put: {} as KubeObject })).then(answer)
  })
  try {
    server.listen(address ? Number(new URL(address).port) : 0, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    await storage.close()
    throw error
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await storage.close()
  }
  return { url, kubeconfig: `${directory}/kubeconfig`, close }
}

const member = await joinOrHost({
  directory,
  clock: systemClock,
  log,
  start,
  onChange: (membership) => {
    const { state } = membership
    process.stdout.write(`${JSON.stringify({ state, ...('host' in membership && { host: membership.host }) })}\n`)
  },
})
process.once('SIGTERM', () => void member.close())
