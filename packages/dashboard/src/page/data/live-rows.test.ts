import { describe, expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { FakeServer } from '../testing/fake-server.ts'
import { DashboardApi } from './api.ts'
import { LiveRows } from './live-rows.ts'
import type { PageRow, PageView } from './rows.ts'

const row = (id: string, name = id): PageRow => ({ id, name })

function page(rows: Readonly<Record<string, readonly PageRow[]>>) {
  const clock = new FakeClock()
  const server = new FakeServer()
  for (const [view, list] of Object.entries(rows)) server.rows.set(view, [...list])
  const api = new DashboardApi(server.fetch)
  const live = new LiveRows({ api, clock })
  const names = (view: PageView): readonly string[] =>
    [...live.table(view).entries()].map((entry) => entry.row.name).toSorted()
  return { api, clock, live, names, server }
}

describe('the first load', () => {
  test('a wanted view is listed, and the stream continues after the list', async () => {
    const { clock, live, names, server } = page({ claims: [row('a'), row('b')] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    expect(names('claims')).toEqual(['a', 'b'])
    expect(live.connection).toBe('live')
    expect(server.paths('./api/v1/views')).toEqual(['./api/v1/views/claims?limit=500&sort=expiresAt&order=asc'])
    expect(server.requests.at(-1)).toMatchObject({
      path: './api/v1/stream?views=claims',
      headers: { 'last-event-id': 'a-0' },
    })
  })

  test('the stream starts before the later pages have arrived, and they do not undo it', async () => {
    const { clock, live, names, server } = page({ leases: [row('a'), row('b', 'old'), row('c')] })
    server.maxRows = 1
    const gate = Promise.withResolvers<void>()
    server.gate = gate.promise
    live.want(['leases'])
    live.start()
    await clock.advance(0)
    expect(names('leases')).toEqual(['a'])
    expect(live.table('leases').state).toEqual({ status: 'ready', isComplete: false, total: 3 })
    server.send('a-1', { view: 'leases', type: 'set', row: row('b', 'new') })
    server.send('a-2', { view: 'leases', type: 'delete', id: 'c' })
    await clock.advance(0)
    gate.resolve()
    await clock.advance(0)
    expect(names('leases')).toEqual(['a', 'new'])
    expect(live.table('leases').state).toEqual({ status: 'ready', isComplete: true, total: 2 })
  })

  test('another view joins the stream at the position that was reached', async () => {
    const { clock, live, names, server } = page({ claims: [row('a')], pools: [row('p')] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    server.send('a-7', { view: 'claims', type: 'set', row: row('b') })
    await clock.advance(0)
    live.want(['pools'])
    await clock.advance(0)
    expect(server.requests.at(-1)).toMatchObject({
      path: './api/v1/stream?views=claims,pools',
      headers: { 'last-event-id': 'a-7' },
    })
    expect([...names('claims'), ...names('pools')]).toEqual(['a', 'b', 'p'])
    expect(live.connection).toBe('live')
  })

  test('a forbidden view and one that the server does not have do not disturb the others', async () => {
    const { clock, live, names, server } = page({ claims: [row('a')], leases: [] })
    server.next.push({ start: './api/v1/views/leases', status: 403, body: { error: 'needs: list leases' } })
    live.want(['leases', 'databases', 'claims'])
    live.start()
    await clock.advance(0)
    expect(live.table('leases').state).toEqual({ status: 'forbidden', message: 'needs: list leases' })
    expect(live.table('databases').state).toEqual({ status: 'absent' })
    expect(names('claims')).toEqual(['a'])
    expect(server.paths('./api/v1/stream')).toEqual(['./api/v1/stream?views=claims'])
  })

  test('a view whose list fails is tried again while the others are live', async () => {
    const { clock, live, names, server } = page({ claims: [row('a')], databases: [row('d')] })
    server.next.push({ start: './api/v1/views/databases', status: 503, body: { error: 'not synced' } })
    live.want(['claims', 'databases'])
    live.start()
    await clock.advance(0)
    expect(live.table('databases').state).toEqual({ status: 'failed', message: 'not synced' })
    expect(live.connection).toBe('live')
    await clock.advance(5_000)
    expect(names('databases')).toEqual(['d'])
  })
})

test('a view that the server does not offer is not asked for', async () => {
  const { clock, live, server } = page({ claims: [row('a')] })
  live.offer(['claims'])
  live.want(['databases', 'claims'])
  live.start()
  await clock.advance(0)
  expect(live.table('databases').state).toEqual({ status: 'absent' })
  expect(server.paths('./api/v1/views')).toHaveLength(1)
  live.restart()
  expect(live.table('databases').state).toEqual({ status: 'absent' })
})

describe('an outage', () => {
  test('rows stay, and the stream resumes where it broke', async () => {
    const { clock, live, names, server } = page({ claims: [row('a')] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    server.send('a-3', { view: 'claims', type: 'set', row: row('b') })
    await clock.advance(0)
    server.goDown()
    await clock.advance(0)
    expect(live.connection).toBe('reconnecting')
    expect(names('claims')).toEqual(['a', 'b'])
    server.isDown = false
    await clock.advance(250)
    expect(live.connection).toBe('live')
    expect(server.requests.at(-1)?.headers['last-event-id']).toBe('a-3')
    expect(server.paths('./api/v1/views')).toHaveLength(1)
  })

  test('tries become rarer, from 0.25 s to 5 s', async () => {
    const { clock, live, server } = page({ claims: [] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    server.goDown()
    await clock.advance(0)
    const times: number[] = []
    const start = clock.now()
    let seen = server.requests.length
    while (times.length < 7) {
      await clock.advance(50)
      if (server.requests.length > seen) times.push(clock.now() - start)
      seen = server.requests.length
    }
    expect(times).toEqual([250, 750, 1_750, 3_750, 7_750, 12_750, 17_750])
  })

  test('after a restart of the server everything is listed again, and what is gone disappears', async () => {
    const { clock, live, names, server } = page({ claims: [row('a'), row('b')] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    server.rows.set('claims', [row('b', 'changed'), row('c')])
    server.cursor = 'b-0'
    server.next.push({ start: './api/v1/stream', status: 410 })
    server.stream.fail()
    await clock.advance(250)
    expect(names('claims')).toEqual(['a', 'b'])
    await clock.advance(1_000)
    expect(names('claims')).toEqual(['c', 'changed'])
    expect(live.connection).toBe('live')
    expect(server.requests.at(-1)?.headers['last-event-id']).toBe('b-0')
  })

  test('a stream that the server ends in order is opened again without an alarm', async () => {
    const { clock, live, server } = page({ claims: [] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    server.stream.end()
    await clock.advance(0)
    expect(live.connection).toBe('live')
    await clock.advance(250)
    expect(server.streams).toHaveLength(2)
  })

  test('a stream that is silent for longer than its heartbeats is opened again', async () => {
    const { clock, live, server } = page({ claims: [] })
    live.want(['claims'])
    live.start()
    await clock.advance(0)
    await clock.advance(30_000)
    server.stream.send(': heartbeat\n\n')
    await clock.advance(30_000)
    expect(server.streams).toHaveLength(1)
    await clock.advance(20_000)
    expect(server.streams).toHaveLength(2)
  })

  test('a page of a list that cannot be read begins the list again', async () => {
    const { clock, live, names, server } = page({ leases: [row('a'), row('b')] })
    server.maxRows = 1
    server.next.push({ start: './api/v1/views/leases?limit=5000', status: 500 })
    live.want(['leases'])
    live.start()
    await clock.advance(1_000)
    expect(names('leases')).toEqual(['a', 'b'])
    expect(live.table('leases').state).toEqual({ status: 'ready', isComplete: true, total: 2 })
  })
})

test('a token that is refused stops everything until another one is given', async () => {
  const { api, clock, live, names, server } = page({ claims: [row('a')] })
  let refusals = 0
  api.onUnauthorized = () => {
    refusals++
    live.stop()
  }
  server.next.push({ start: './api/v1/views/claims', status: 401 })
  live.want(['claims'])
  live.start()
  await clock.advance(10_000)
  expect([refusals, server.requests.length]).toEqual([1, 1])
  api.token = 'good'
  live.restart()
  await clock.advance(0)
  expect(names('claims')).toEqual(['a'])
  expect(server.requests.at(-1)?.headers['authorization']).toBe('Bearer good')
})

test('the changes of one frame notify a view once', async () => {
  const { clock, live, server } = page({ claims: [] })
  live.want(['claims'])
  live.start()
  await clock.advance(0)
  let calls = 0
  live.table('claims').subscribe(() => calls++)
  for (const id of [1, 2, 3, 4]) server.send(`a-${id}`, { view: 'claims', type: 'set', row: row(`r${id}`) })
  await clock.advance(0)
  expect([calls, live.table('claims').size]).toEqual([1, 4])
})
