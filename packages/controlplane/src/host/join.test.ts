import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { TenureError } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { acquireHost } from './acquire-host.ts'
import { readNote } from './host-record.ts'
import { joinOrHost, type HostedServer, type JoinOrHostOptions, type Member, type StartContext } from './join.ts'

const URL_OF_FIRST = 'https://127.0.0.1:6443'

/** Processes that share a directory, each with a server that only counts its starts. */
class SharedDirectory {
  readonly clock = new VirtualClock()
  readonly directory: string
  readonly starts: (StartContext & { readonly by: string })[] = []
  readonly closes: string[] = []

  constructor(directory: string) {
    this.directory = directory
  }

  join(by: string, options: Partial<JoinOrHostOptions> = {}): Promise<Member> {
    const start = (context: StartContext): Promise<HostedServer> => {
      this.starts.push({ ...context, by })
      const close = (): Promise<void> => {
        this.closes.push(by)
        return Promise.resolve()
      }
      return Promise.resolve({ url: context.address ?? URL_OF_FIRST, kubeconfig: `/of/${by}`, close })
    }
    return joinOrHost({ directory: this.directory, clock: this.clock, log: silentLogger, start, ...options })
  }
}

async function house(): Promise<SharedDirectory> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-host-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return new SharedDirectory(directory)
}

const addressInUse = (): Error => Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' })

test('the first process hosts and the second learns its address', async () => {
  const shared = await house()
  const first = await shared.join('first')
  const second = await shared.join('second')
  expect(first.membership).toMatchObject({ state: 'hosting', host: { url: URL_OF_FIRST, pid: process.pid } })
  expect(second.membership).toEqual({
    state: 'joined',
    host: { url: URL_OF_FIRST, kubeconfig: '/of/first', pid: process.pid, since: '2026-01-01T00:00:00.000Z' },
  })
  expect(shared.starts).toMatchObject([{ by: 'first', address: undefined, former: undefined }])
  await second.close()
  await first.close()
  expect([shared.closes, shared.clock.pending]).toEqual([['first'], 0])
})

test('when the host stops, one process takes over its address and the other joins it', async () => {
  const shared = await house()
  const first = await shared.join('first')
  const changes: string[] = []
  const guests = await Promise.all(
    ['second', 'third'].map((by) =>
      shared.join(by, { onChange: ({ state }) => changes.push(`${by} ${state}`) }).then((member) => ({ by, member })),
    ),
  )
  await first.close()
  await shared.clock.advanceUntil(() => shared.starts.length === 2)
  await shared.clock.advance(1000)
  expect(shared.starts[1]).toMatchObject({ address: URL_OF_FIRST, former: { kubeconfig: '/of/first' } })
  const winner = shared.starts[1]?.by ?? ''
  const loser = winner === 'second' ? 'third' : 'second'
  const memberships = new Map(guests.map(({ by, member }) => [by, member.membership]))
  expect(memberships.get(winner)).toMatchObject({ state: 'hosting', host: { url: URL_OF_FIRST } })
  expect(memberships.get(loser)).toMatchObject({ state: 'joined', host: { kubeconfig: `/of/${winner}` } })
  expect(changes.filter((change) => change.startsWith(winner)).slice(1)).toEqual([
    `${winner} taking over`,
    `${winner} hosting`,
  ])
  for (const { member } of guests) await member.close()
  expect([readNote(shared.directory)?.state, shared.clock.pending]).toEqual(['stopped', 0])
})

test('a host knows the identities of former hosts, and not that of a process whose start failed', async () => {
  const shared = await house()
  const first = await shared.join('first', { identity: 'one' })
  const second = await shared.join('second', { identity: 'two' })
  const failing = await shared.join('failing', {
    identity: 'alive',
    interval: 10,
    start: () => Promise.reject(new Error('no')),
  })
  await first.close()
  await shared.clock.advanceUntil(() => second.membership.state === 'hosting')
  expect(failing.membership.state).toBe('failed')
  expect(second.membership).toMatchObject({ host: { identity: 'two', ended: ['one'] } })
  for (const member of [failing, second]) await member.close()
  const third = await shared.join('third', { identity: 'three' })
  expect(third.membership).toMatchObject({ host: { identity: 'three', ended: ['two', 'one'] } })
  await third.close()
})

test('a takeover begins within the interval', async () => {
  const shared = await house()
  const first = await shared.join('first')
  const second = await shared.join('second')
  await first.close()
  await shared.clock.advance(150)
  expect(second.membership.state).toBe('hosting')
  await second.close()
})

test('a process that starts after a clean stop hosts, knows the former address and may choose another', async () => {
  const shared = await house()
  await (await shared.join('first')).close()
  const second = await shared.join('second')
  expect(shared.starts[1]).toMatchObject({ address: undefined, former: { url: URL_OF_FIRST } })
  await second.close()
})

test('a takeover waits for an address and a file that are still in use', async () => {
  const shared = await house()
  const first = await shared.join('first')
  const obstacles = [
    addressInUse(),
    new TenureError('TENURE_STORAGE_IN_USE', 'in use'),
    new TenureError('TENURE_SERVER', 'cannot listen', { cause: addressInUse() }),
  ]
  let tries = 0
  const second = await shared.join('second', {
    start: ({ address }) => {
      const obstacle = obstacles[tries++]
      if (obstacle) return Promise.reject(obstacle)
      return Promise.resolve({ url: address ?? '', kubeconfig: '', close: () => Promise.resolve() })
    },
  })
  await first.close()
  await shared.clock.advanceUntil(() => second.membership.state === 'hosting')
  expect([tries, second.membership]).toMatchObject([4, { host: { url: URL_OF_FIRST } }])
  await second.close()
})

test('a takeover that fails lets another process try', async () => {
  const shared = await house()
  const first = await shared.join('first')
  const damaged = new TenureError('TENURE_STORAGE_DAMAGED', 'it is damaged')
  let isTaken = false
  const second = await shared.join('second', { start: () => Promise.reject(damaged), interval: 10 })
  const third = await shared.join('third', { interval: 1000 })
  const fourth = await shared.join('fourth', {
    start: () => {
      isTaken = true
      return Promise.reject(addressInUse())
    },
    interval: 20,
    resourceTimeout: 100,
  })
  await first.close()
  await shared.clock.advanceUntil(() => third.membership.state === 'hosting')
  expect(second.membership).toEqual({ state: 'failed', error: damaged })
  expect([isTaken, fourth.membership]).toMatchObject([true, { state: 'failed', error: { code: 'EADDRINUSE' } }])
  for (const member of [second, third, fourth]) await member.close()
})

test('a first start that fails is reported and releases the directory', async () => {
  const shared = await house()
  await expect(shared.join('first', { start: () => Promise.reject(addressInUse()) })).rejects.toThrow('EADDRINUSE')
  const held = acquireHost(shared.directory)
  expect(held?.former).toBeUndefined()
  held?.release()
})

test('while the host starts, another process waits and can give up', async () => {
  const shared = await house()
  const held = acquireHost(shared.directory)
  const leaving = new AbortController()
  const gaveUp = shared.join('impatient', { signal: leaving.signal })
  const joined = shared.join('patient')
  await shared.clock.advance(2000)
  leaving.abort(new Error('enough'))
  await expect(gaveUp).rejects.toThrow('enough')
  held?.announce({ url: URL_OF_FIRST, kubeconfig: '/k', pid: 1, since: '2026-01-01T00:00:00Z', state: 'serving' })
  await shared.clock.advance(150)
  const member = await joined
  expect(member.membership).toMatchObject({ state: 'joined', host: { pid: 1 } })
  await member.close()
  held?.release()
})

test('closing while the server starts waits for it and stops it', async () => {
  const shared = await house()
  const first = await shared.join('first')
  let started: (() => void) | undefined
  const second = await shared.join('second', {
    start: async ({ signal }) => {
      await new Promise<void>((resolve) => {
        started = resolve
      })
      shared.closes.push(`aborted ${signal.aborted}`)
      return {
        url: URL_OF_FIRST,
        kubeconfig: '',
        close: () => {
          shared.closes.push('second')
          return Promise.resolve()
        },
      }
    },
  })
  await first.close()
  await shared.clock.advanceUntil(() => started !== undefined)
  const closed = second.close()
  started?.()
  await closed
  expect(shared.closes).toEqual(['first', 'aborted true', 'second'])
  const held = acquireHost(shared.directory)
  expect(held).toBeDefined()
  held?.release()
})

test('a directory is held by one process at a time', async () => {
  const { directory } = await house()
  const held = acquireHost(directory)
  expect(acquireHost(directory)).toBeUndefined()
  held?.release()
  const again = acquireHost(directory)
  expect(again).toBeDefined()
  again?.release()
})
