/** Extensions that arrive at the moment when their lease expires, over HTTPS and in real time. */
import { request } from 'node:https'
import { createInterface } from 'node:readline'
import { sleep, systemClock, systemRandom } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Received, send, type ServerUnderTest, startServer } from './processes.ts'

/** HOSTILE_RACES and HOSTILE_SEED set how many leases are extended and how the run begins. */
const RACES = Number(process.env['HOSTILE_RACES'] ?? 60)
const SEED = Number(process.env['HOSTILE_SEED'] ?? Math.floor(systemRandom.fraction() * 1e9))
/** Leases that expire at the same moment. */
const BATCH = 30
const TTL_MS = 2_000
/** How long before and after the expiry the extensions are sent, in milliseconds. */
const BEFORE_MS = 30
const AFTER_MS = 90
const POLL = { timeout: 60_000, interval: 100 }
const MAPS = '/api/v1/namespaces/default/configmaps'
const PREFIX = 'object-lease-controller.ullberg.us/'

let server: ServerUnderTest
let stopWatch: (() => void) | undefined

async function ask(method: string, path: string, value?: object): Promise<Received> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': type }
  return send({ method, url: `${server.url}${path}`, headers, ...(value && { body: JSON.stringify(value) }) })
}

interface Leased {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
}

/** The time at which each object was seen to be deleted. */
const deletions = new Map<string, number>()

/** Follows deletions; the time of one is that of its event, which never comes before the deletion. */
function watchDeletions(): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}` }
    const sent = request(`${server.url}${MAPS}?watch=true`, { rejectUnauthorized: false, headers }, (response) => {
      const lines = createInterface({ input: response })
      lines.on('line', (line) => {
        const { type, object } = JSON.parse(line) as { type: string; object: Leased }
        if (type === 'DELETED') deletions.set(object.metadata.name, systemClock.now())
      })
      // The end of the test ends the watch. Both report it.
      for (const each of [response, lines]) each.on('error', () => undefined)
      resolve(() => sent.destroy())
    })
    sent.on('error', reject)
    sent.end()
  })
}

/** The end of a lease that the controller has written, in milliseconds since 1970. */
async function endOf(name: string): Promise<number> {
  return vi.waitFor(async () => {
    const { metadata } = JSON.parse((await ask('GET', `${MAPS}/${name}`)).text) as Leased
    const end = metadata.annotations?.[`${PREFIX}expire-at`]
    if (end === undefined) throw new Error(`${name} has no date`)
    return Date.parse(end)
  }, POLL)
}

beforeAll(async () => {
  server = await startServer()
  await vi.waitFor(async () => {
    const { status, text } = await ask('POST', '/apis/object-lease-controller.ullberg.us/v1alpha1/leasecontrollers', {
      apiVersion: 'object-lease-controller.ullberg.us/v1alpha1',
      kind: 'LeaseController',
      metadata: { name: 'maps' },
      spec: { kind: 'ConfigMap' },
    })
    if (status !== 201 && status !== 409) throw new Error(text)
  }, POLL)
  stopWatch = await watchDeletions()
}, 120_000)

afterAll(async () => {
  stopWatch?.()
  await server.stop()
})

test(
  `of ${RACES} extensions of the seed ${SEED} that race with expiry, each accepted one wins, and no lease ends early`,
  async ({ annotate }) => {
    const random = seededRandom(SEED)
    const problems: string[] = []
    let accepted = 0
    let late = 0
    const race = async (name: string): Promise<void> => {
      const annotations = { [`${PREFIX}ttl`]: `${TTL_MS}ms` }
      const { status, text } = await ask('POST', MAPS, { metadata: { name, annotations } })
      if (status !== 201) throw new Error(text)
      let end = await endOf(name)
      await sleep(systemClock, end - systemClock.now() - BEFORE_MS + random.fraction() * (BEFORE_MS + AFTER_MS))
      const now = systemClock.now()
      const extension = { metadata: { annotations: { [`${PREFIX}extended-at`]: new Date(now).toISOString() } } }
      const extended = await ask('PATCH', `${MAPS}/${name}`, extension)
      if (extended.status === 200) {
        accepted++
        if (now >= end) late++
        end = now + TTL_MS
      } else if (extended.status !== 404) problems.push(`${name}: ${extended.status} ${extended.text}`)
      const deletedAt = await vi.waitFor(() => {
        const at = deletions.get(name)
        if (at === undefined) throw new Error(`${name} is not deleted`)
        return at
      }, POLL)
      if (deletedAt < end) problems.push(`${name} was deleted ${end - deletedAt} ms early`)
    }
    for (let begun = 0; begun < RACES; begun += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, RACES - begun) }, (_, index) => race(`lease-${begun + index}`))
      await Promise.all(batch)
    }
    expect(problems).toEqual([])
    expect(accepted).toBeGreaterThan(0)
    await annotate(`${accepted} of ${RACES} extensions were accepted, ${late} of them after the end of the lease`)
  },
  60_000 + RACES * 1_000,
)
