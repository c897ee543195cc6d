/** Tests the ids of `/watch` on a real API server, which deletes an object in the request that removes its last finalizer. */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ApplicationsFixture, type Replica } from './programs-under-test/applications.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }

let fixture: ApplicationsFixture
let operator: Replica

beforeAll(async () => {
  fixture = await ApplicationsFixture.open(workerKubeconfig())
  operator = await fixture.start('only')
  await operator.whenReady()
})

afterAll(() => fixture.close())

interface Reader {
  /** Ids and types: `17 ADDED`. */
  frames(): readonly (readonly [id: string, type: string])[]
  close(): void
}

/** Resolves when the stream is connected: from then on no event is missed. */
function read({ url }: Replica, lastEventId?: string): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const sent = request(`${url}/watch?namespace=${fixture.namespace}`, { agent: false, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        resolve({
          frames: () =>
            [...text.matchAll(/^id: (\S+)\ndata: \{"type":"(\w+)"/gm)].map(([, id = '', type = '']) => [id, type]),
          close: () => void response.destroy(),
        })
      })
      response.on('error', () => undefined)
    })
    sent.on('error', reject).end()
  })
}

test('no two frames have the same id, and a reader that resumes at any of them gets the deletion', async () => {
  const reader = await read(operator)
  await fixture.apply('shop', { replicas: 1, image: 'docker.io/library/nginx:1.29' })
  await fixture.whenReady('shop')
  await fixture.kubectl('delete', 'application', 'shop', '--timeout=90s')
  await expect.poll(() => reader.frames().at(-1)?.[1], POLL_OPTIONS).toBe('DELETED')
  const frames = reader.frames()
  reader.close()
  expect(frames.filter(([, type]) => type === 'DELETED')).toHaveLength(1)
  expect(new Set(frames.map(([id]) => id)).size).toBe(frames.length)
  // A replica that was started later reads the history of the API server.
  const second = await fixture.start('later')
  await second.whenReady()
  for (const replica of [operator, second]) {
    for (const [id] of frames.slice(0, -1)) {
      const resumed = await read(replica, id)
      await expect.poll(() => resumed.frames().at(-1)?.[1], POLL_OPTIONS).toBe('DELETED')
      resumed.close()
    }
  }
})
