import { Application } from '@tenure/applications'
import type { Transport } from '@tenure/kube'
import { expect, test } from 'vitest'
import { InProcessFloor } from '../../floors/index.ts'
import { create, IMAGE, runOn } from './support.ts'

const APPLICATIONS = 1_000

// Virtual time, in process only; bench/ counts the writes on a real cluster.
test('a thousand steady Applications cost no requests', { timeout: 300_000 }, async () => {
  const floor = await InProcessFloor.enter()
  try {
    const namespace = await floor.namespace('steady')
    const inner = await floor.transport()
    const writes: string[] = []
    const others: string[] = []
    const transport: Transport = {
      request(request) {
        if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`)
        else if (!request.stream) others.push(request.path)
        return inner.request(request)
      },
      close: () => inner.close(),
    }
    runOn(floor, { transport, webhooks: 'none' }, {})
    await create(floor, { name: 'app-0', namespace }, { replicas: 1, image: IMAGE })
    for (let index = 1; index < APPLICATIONS; index++) {
      const metadata = { name: `app-${index}`, namespace }
      await floor.api.create(Application, { metadata, spec: { replicas: 1, image: IMAGE } })
    }
    await floor.until('all are Running', async () => {
      const { items } = await floor.api.list(Application, { namespace })
      return items.length === APPLICATIONS && items.every(({ status }) => status?.phase === 'Running')
    })
    // Events are still being written, at a limited rate.
    await floor.pass(180_000)
    expect(writes.filter((write) => !write.includes('/events')).length / APPLICATIONS).toBeLessThanOrEqual(5)

    writes.length = 0
    others.length = 0
    await floor.pass(300_000)
    expect({ writes, others }).toEqual({ writes: [], others: [] })
  } finally {
    await floor.leave()
  }
})
