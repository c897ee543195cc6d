import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemRandom } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { send, startServer } from './processes.ts'

/** HOSTILE_KILLS and HOSTILE_SEED set how often the server is killed and how the run begins. */
const KILLS = Number(process.env['HOSTILE_KILLS'] ?? 4)
const SEED = Number(process.env['HOSTILE_SEED'] ?? Math.floor(systemRandom.fraction() * 1e9))
const WRITERS = 8

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data: { readonly value: string; readonly filler: string; readonly copy: string }
}

test(
  `acknowledged writes over HTTPS survive ${KILLS} kills of the seed ${SEED}, and none is half-written`,
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'tenure-hostile-'))
    const random = seededRandom(SEED)
    /** By name: the last acknowledged value, or the one whose response was lost. */
    const acknowledged = new Map<string, number>()
    const attempted = new Map<string, number>()
    for (let life = 0; life <= KILLS; life++) {
      const server = await startServer(directory, 0, 'controlplane')
      const maps = `${server.url}/api/v1/namespaces/default/configmaps`
      const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
      const { text } = await send({ method: 'GET', url: maps, headers })
      const { items } = JSON.parse(text) as { items: Stored[] }
      const stored = new Map(items.map((item) => [item.metadata.name, item]))
      for (const [name, value] of acknowledged) {
        const found = stored.get(name)
        expect(found, `${name} is lost`).toBeDefined()
        expect(Number(found?.data.value)).toBeGreaterThanOrEqual(value)
        expect(Number(found?.data.value)).toBeLessThanOrEqual(attempted.get(name) ?? 0)
        expect(found?.data.copy).toBe(found?.data.value)
      }
      if (life === KILLS) {
        await server.stop()
        break
      }
      const writes = 20 + Math.floor(random.fraction() * 300)
      let done = 0
      const write = async (writer: number): Promise<void> => {
        const name = `writer-${writer}`
        for (let value = (attempted.get(name) ?? 0) + 1; ; value++) {
          attempted.set(name, value)
          const filler = 'x'.repeat((value * 997) % 20_000)
          const data = { value: String(value), filler, copy: String(value) }
          const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
          const isNew = !acknowledged.has(name) && !stored.has(name) && value === 1
          const { status } = isNew
            ? await send({ method: 'POST', url: maps, headers, body })
            : await send({ method: 'PUT', url: `${maps}/${name}`, headers, body })
          if (status === 0) return
          expect([200, 201]).toContain(status)
          acknowledged.set(name, value)
          // Requests of the other writers are in flight at this moment.
          if (++done === writes) server.child.kill('SIGKILL')
        }
      }
      await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(index)))
      await server.stop()
    }
    expect(acknowledged.size).toBe(WRITERS)
    await rm(directory, { recursive: true, force: true })
  },
  60_000 + KILLS * 20_000,
)
