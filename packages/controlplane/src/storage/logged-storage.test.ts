import { VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { StatusError } from '../errors.ts'
import type { ChangeLog, ChangeLogListener } from './change-log.ts'
import { LoggedStorage } from './logged-storage.ts'
import { MemoryView } from './memory/memory-view.ts'
import { CONFIG_MAPS, configMap, contents, line, put, rejection, remove, write } from './testing/storage.ts'
import { RevisionCompacted, type Change, type Storage } from './types.ts'

/** A log that is durable when the test says so. */
class ManualLog implements ChangeLog {
  readonly appended: Change[] = []
  readonly forgotten: number[] = []
  listener: ChangeLogListener | undefined

  append(change: Change): void {
    this.appended.push(change)
  }

  forget(_oldest: number, superseded: readonly number[]): void {
    this.forgotten.push(...superseded)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  durable(revision: number): void {
    this.listener?.durable(revision)
  }

  fail(message = 'the disk is full'): void {
    this.appended.length = 0
    this.listener?.failed(new StatusError(500, 'InternalError', message))
  }
}

interface Fixture {
  readonly storage: Storage
  readonly log: ManualLog
  readonly clock: VirtualClock
  readonly errors: unknown[]
}

function start(history: { changes?: number; age?: number } = {}): Fixture {
  const log = new ManualLog()
  const clock = new VirtualClock()
  const errors: unknown[] = []
  const view = new MemoryView((error) => errors.push(error))
  const listen = (listener: ChangeLogListener): ChangeLog => Object.assign(log, { listener })
  return { storage: new LoggedStorage({ view, log: listen, clock, history }), log, clock, errors }
}

/** Whether the promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  const first = await Promise.race([promise.catch(() => undefined), Promise.resolve().then(() => pending)])
  return first !== pending
}

test('a write is decided on the head, and is neither visible nor acknowledged before it is durable', async () => {
  const { storage, log } = start()
  const seen: string[] = []
  storage.watch(CONFIG_MAPS, 1, (change) => seen.push(line(change)))
  const first = storage.write(CONFIG_MAPS, 'default/a', put('default/a', 'one'))
  const second = storage.write(CONFIG_MAPS, 'default/a', (current) => {
    expect(current?.revision).toBe(2)
    return { put: configMap('default/a', 'two'), result: 'decided' }
  })
  expect([storage.revision, storage.get(CONFIG_MAPS, 'default/a'), await isSettled(first)]).toEqual([
    1,
    undefined,
    false,
  ])

  log.durable(2)
  expect((await first).stored.object.metadata.resourceVersion).toBe('2')
  expect([storage.revision, contents(storage), seen]).toEqual([
    2,
    ['default/a=one@2'],
    ['2 default/a nothing → one @2'],
  ])
  expect(await isSettled(second)).toBe(false)
  const third = storage.write(CONFIG_MAPS, 'default/a', (current) => {
    expect(current?.revision).toBe(3)
    return { keep: true }
  })

  log.durable(3)
  expect((await third).stored.revision).toBe(3)
  expect(await second).toMatchObject({ stored: { revision: 3 }, result: 'decided' })
  expect(seen).toEqual(['2 default/a nothing → one @2', '3 default/a one → two @3'])
})

test('watches receive a change before the next one is visible and before its writer is answered', async () => {
  const { storage, log } = start()
  const order: string[] = []
  storage.watch(CONFIG_MAPS, 1, ({ revision }) => order.push(`notified ${revision} at ${storage.revision}`))
  const writes = ['a', 'b', 'c'].map(async (name) => {
    order.push(`answered ${await write(storage, `default/${name}`, 'x')}`)
  })
  log.durable(4)
  await Promise.all(writes)
  expect(order).toEqual([
    'notified 2 at 2',
    'notified 3 at 3',
    'notified 4 at 4',
    'answered 2',
    'answered 3',
    'answered 4',
  ])
})

test('a failing disk fails all writes that are not durable and shows none, and the next write succeeds', async () => {
  const { storage, log } = start()
  const seen: string[] = []
  storage.watch(CONFIG_MAPS, 1, (change) => seen.push(line(change)))
  const safe = write(storage, 'default/a', 'safe')
  const lost = [write(storage, 'default/a', 'lost'), write(storage, 'default/b', 'lost')]
  log.durable(2)
  log.fail()
  await expect(safe).resolves.toBe(2)
  for (const promise of lost) {
    expect(await rejection(promise)).toMatchObject({ code: 500, reason: 'InternalError', message: 'the disk is full' })
  }
  expect([contents(storage), storage.revision]).toEqual([['default/a=safe@2'], 2])

  const next = storage.write(CONFIG_MAPS, 'default/a', (current) => {
    expect(current?.revision).toBe(2)
    return { put: configMap('default/a', 'next') }
  })
  log.durable(3)
  expect((await next).stored.revision).toBe(3)
  expect(seen).toEqual(['2 default/a nothing → safe @2', '3 default/a safe → next @3'])
})

test('a refusal and a no-op decided on a pending write wait for that write', async () => {
  const { storage, log } = start()
  void write(storage, 'default/a', 'pending')
  const refused = rejection(
    storage.write(CONFIG_MAPS, 'default/a', (current) => {
      throw new Error(`conflict with ${current?.revision}`)
    }),
  )
  const kept = storage.write(CONFIG_MAPS, 'default/a', () => ({ keep: true }))
  expect(await isSettled(refused)).toBe(false)
  expect(await isSettled(kept)).toBe(false)
  log.durable(2)
  expect((await refused).message).toBe('conflict with 2')
  expect((await kept).stored.revision).toBe(2)
  expect(log.appended).toHaveLength(1)
})

test('a refusal decided on a write that is lost reports the loss', async () => {
  const { storage, log } = start()
  const lost = rejection(write(storage, 'default/a', 'pending'))
  const refused = rejection(
    storage.write(CONFIG_MAPS, 'default/a', () => {
      throw new Error('it exists')
    }),
  )
  log.fail()
  await lost
  expect(await refused).toMatchObject({ code: 500, message: 'the disk is full' })
})

test('the next decision sees a removal that is not durable yet', async () => {
  const { storage, log } = start()
  const writes = [
    write(storage, 'default/a', 'one'),
    storage.write(CONFIG_MAPS, 'default/a', remove),
    storage.write(CONFIG_MAPS, 'default/a', (current) => {
      expect(current).toBeUndefined()
      return { put: configMap('default/a', 'again') }
    }),
  ]
  log.durable(4)
  await Promise.all(writes)
  expect(contents(storage)).toEqual(['default/a=again@4'])
})

test('removing or keeping an absent object is a bug of the caller and writes nothing', async () => {
  const { storage, log } = start()
  const error = await rejection(storage.write(CONFIG_MAPS, 'default/a', remove))
  expect(error).toMatchObject({ code: 'TENURE_STORAGE_NOTHING_THERE', fate: 'bug' })
  expect(log.appended).toEqual([])
})

test('a listener that throws is reported, and other listeners receive the change', async () => {
  const { storage, log, errors } = start()
  const seen: number[] = []
  storage.watch(CONFIG_MAPS, 1, () => {
    throw new Error('broken listener')
  })
  storage.watch(CONFIG_MAPS, 1, ({ revision }) => seen.push(revision))
  const written = write(storage, 'default/a', 'x')
  log.durable(2)
  await written
  expect([seen, errors]).toEqual([[2], [new Error('broken listener')]])
})

test('a watch started by a listener receives each change once', async () => {
  const { storage, log } = start()
  const seen: number[] = []
  let isStarted = false
  storage.watch(CONFIG_MAPS, 1, () => {
    if (!isStarted) storage.watch(CONFIG_MAPS, 1, ({ revision }) => seen.push(revision))
    isStarted = true
  })
  const writes = [write(storage, 'default/a', 'x'), write(storage, 'default/b', 'x')]
  log.durable(3)
  await Promise.all(writes)
  expect(seen).toEqual([2, 3])
})

test('a watch that ends receives nothing more, even when an earlier listener ends it', async () => {
  const { storage, log } = start()
  const seen: number[] = []
  let stop: (() => void) | undefined
  storage.watch(CONFIG_MAPS, 1, ({ revision }) => {
    if (revision === 3) stop?.()
  })
  stop = storage.watch(CONFIG_MAPS, 1, ({ revision }) => seen.push(revision))
  const writes = ['a', 'b', 'c'].map((name) => write(storage, `default/${name}`, 'x'))
  log.durable(4)
  await Promise.all(writes)
  expect(seen).toEqual([2])
})

test('history is limited by count and age, and superseded changes leave the log', async () => {
  const { storage, log, clock } = start({ changes: 3, age: 60_000 })
  const writeAll = async (...values: readonly string[]): Promise<void> => {
    const writes = values.map((value) => write(storage, 'default/a', value))
    log.durable(log.appended.at(-1)?.revision ?? 0)
    await Promise.all(writes)
  }
  await writeAll('2', '3', '4', '5', '6')
  expect(() => storage.watch(CONFIG_MAPS, 2, () => undefined)).toThrow(new RevisionCompacted(3))
  expect(contents(storage, { at: 3 })).toEqual(['default/a=3@3'])
  expect(log.forgotten).toEqual([2])

  await clock.advance(59_000)
  await writeAll('7')
  expect(contents(storage, { at: 5 })).toEqual(['default/a=5@5'])
  await clock.advance(2000)
  await writeAll('8')
  expect(() => storage.range(CONFIG_MAPS, { at: 5 })).toThrow(new RevisionCompacted(6))
  expect(contents(storage, { at: 7 })).toEqual(['default/a=7@7'])
  expect(log.forgotten).toEqual([2, 3, 4, 5])
})

test('a paused list continues with the state it began with', async () => {
  const { storage, log } = start()
  const keys = Array.from({ length: 1200 }, (_, number) => `default/${String(number).padStart(4, '0')}`)
  const writes: Promise<unknown>[] = keys.map((key) => write(storage, key, 'old'))
  log.durable(1201)
  const listed: string[] = []
  for (const { key, object } of storage.range(CONFIG_MAPS)) {
    listed.push(`${key} ${object.metadata.resourceVersion}`)
    if (listed.length !== 600) continue
    writes.push(write(storage, 'default/0700', 'new'), storage.write(CONFIG_MAPS, 'default/0800', remove))
    writes.push(write(storage, 'default/0700-added', 'new'))
    log.durable(1204)
  }
  await Promise.all(writes)
  expect(listed).toEqual(keys.map((key, index) => `${key} ${index + 2}`))
})

test('a list that is paused until its state is compacted fails', async () => {
  const { storage, log } = start()
  const writes = [write(storage, 'default/a', 'x'), write(storage, 'default/b', 'x')]
  log.durable(3)
  const list = storage.range(CONFIG_MAPS)[Symbol.iterator]()
  expect(list.next().value).toMatchObject({ key: 'default/a' })
  writes.push(write(storage, 'default/b', 'y'))
  log.durable(4)
  await Promise.all(writes)
  storage.compact(4)
  expect(() => list.next()).toThrow(new RevisionCompacted(4))
})

test('closing waits for pending writes and refuses later ones', async () => {
  const { storage, log } = start()
  const written = write(storage, 'default/a', 'x')
  const closed = storage.close()
  expect(await isSettled(closed)).toBe(false)
  expect(await rejection(write(storage, 'default/b', 'x'))).toMatchObject({ code: 503 })
  log.durable(2)
  await closed
  await expect(written).resolves.toBe(2)
})

test('writes that queue up behind a stuck disk are refused', async () => {
  const { storage, log } = start()
  const writes = Array.from({ length: 65_536 }, () => storage.write(CONFIG_MAPS, 'default/a', put('default/a', 'x')))
  const error = await rejection(write(storage, 'default/a', 'one too many'))
  expect(error).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } })
  log.durable(65_537)
  await Promise.all(writes)
  expect(storage.revision).toBe(65_537)
})

test('a key named __proto__ is an ordinary key', async () => {
  const { storage, log } = start()
  const object = JSON.parse('{"metadata":{"name":"__proto__"},"__proto__":{"polluted":true}}') as object
  const written = storage.write('__proto__', '__proto__', () => ({ put: object }))
  log.durable(2)
  const { stored } = await written
  expect(stored.json).toBe('{"metadata":{"name":"__proto__","resourceVersion":"2"},"__proto__":{"polluted":true}}')
  expect([storage.resources(), storage.count('__proto__'), 'polluted' in {}]).toEqual([['__proto__'], 1, false])
})
