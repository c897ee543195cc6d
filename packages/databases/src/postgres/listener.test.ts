import { settle, seededRandom, VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, test } from 'vitest'
import type { Database, SqlSessionHandlers } from './database.ts'
import { ChangeListener } from './listener.ts'

/** A database whose notifications can be dropped, and whose connections can be refused. */
class FakeDatabase {
  readonly sessions: SqlSessionHandlers[] = []
  readonly statements: string[] = []
  isDeaf = false
  isRefusing = false
  closed = 0

  readonly database = {
    isUp: true,
    failure: undefined,
    reconnects: 0,
    onStateChange: () => () => undefined,
    whenUp: () => Promise.resolve(),
    close: () => Promise.resolve(),
    transaction: () => Promise.reject(new Error('unused')),
    query: (_: string, [channel, payload]: readonly unknown[] = []) => {
      if (!this.isDeaf) this.sessions.at(-1)?.notification(String(channel), String(payload))
      return Promise.resolve({ rows: [], count: 0 })
    },
    openSession: (handlers: SqlSessionHandlers) => {
      if (this.isRefusing) return Promise.reject(new Error('refused'))
      this.sessions.push(handlers)
      return Promise.resolve({
        query: (text: string) => {
          this.statements.push(text)
          return Promise.resolve({ rows: [], count: 0 })
        },
        close: () => {
          this.closed++
          return Promise.resolve()
        },
      })
    },
  } satisfies Database
}

function setUp() {
  const fake = new FakeDatabase()
  const clock = new VirtualClock()
  const calls: string[] = []
  const listener = new ChangeListener({
    database: fake.database,
    clock,
    random: seededRandom(),
    log: {
      ...silentLogger,
      info: (message) => calls.push(message),
      warn: (message) => calls.push(message),
    },
    onConnect: () => {
      calls.push(`connect after ${fake.statements.at(-1)?.split(' ')[0]}`)
      return Promise.resolve()
    },
    onNotification: () => calls.push('notification'),
    onListeningChange: () => calls.push(`listening ${listener.isListening}`),
  })
  listener.start()
  return { fake, clock, calls, listener }
}

test('the listener listens before it reports the connection, and passes notifications on', async () => {
  const { calls, clock, fake, listener } = setUp()
  await settle()
  expect(fake.statements[0]).toMatch(/^LISTEN/)
  expect(calls).toEqual(['connect after LISTEN', 'listening true'])
  fake.sessions[0]?.notification('tenure_resources', '')
  expect(calls.at(-1)).toBe('notification')
  await listener.stop()
  expect(listener.isListening).toBe(false)
  expect(fake.closed).toBe(1)
  expect(clock.pending).toBe(0)
})

test('a listener that hears nothing for a second says so once, and again when it hears', async () => {
  const { calls, clock, fake, listener } = setUp()
  await settle()
  fake.isDeaf = true
  await clock.advance(15_900)
  expect(listener.isListening).toBe(true)
  await clock.advance(200)
  expect(listener.isListening).toBe(false)
  await clock.advance(60_000)
  expect(calls.filter((call) => call.startsWith('notifications'))).toHaveLength(1)
  fake.isDeaf = false
  await clock.advance(20_000)
  expect(listener.isListening).toBe(true)
  expect(calls.filter((call) => call.startsWith('notifications'))).toEqual([
    'notifications of the database do not arrive, polling instead',
    'notifications of the database arrive again',
  ])
  expect(fake.sessions).toHaveLength(1)
  await listener.stop()
})

test('a connection that ends is replaced with backoff, and every connect is reported', async () => {
  const { calls, clock, fake, listener } = setUp()
  await settle()
  fake.isRefusing = true
  fake.sessions[0]?.end(new Error('gone'))
  await clock.advance(60_000)
  expect(listener.isListening).toBe(false)
  fake.isRefusing = false
  await clock.advance(13_000)
  expect(listener.isListening).toBe(true)
  expect(calls.filter((call) => call === 'connect after LISTEN')).toHaveLength(2)
  await listener.stop()
  expect(clock.pending).toBe(0)
})
