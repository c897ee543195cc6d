import { EventEmitter } from 'node:events'
import { Server } from 'node:net'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ServerConnections } from './server-connections.ts'

class FakeSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1'
  readonly remotePort: number
  isDestroyed = false

  constructor(port: number) {
    super()
    this.remotePort = port
  }

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }
}

function connections(max: number, reserve: number) {
  const server = new Server()
  const tracked = new ServerConnections(server, { max, reserve })
  let port = 0
  const connect = (): FakeSocket => {
    const socket = new FakeSocket(++port)
    server.emit('connection', socket as unknown as Socket)
    return socket
  }
  return { tracked, connect }
}

test('at the limit a new connection replaces the one that was idle for the longest time', () => {
  const { tracked, connect } = connections(3, 1)
  const [first, second, third] = [connect(), connect(), connect()]
  tracked.begin(first)()
  const fourth = connect()
  expect([first, second, third, fourth].map(({ isDestroyed }) => isDestroyed)).toEqual([false, true, false, false])
  expect(tracked.size).toBe(3)
})

test('a connection with a request is replaced only if none is idle', () => {
  const { tracked, connect } = connections(2, 1)
  const [busy, idle] = [connect(), connect()]
  tracked.begin(busy)
  const newest = connect()
  expect([busy.isDestroyed, idle.isDestroyed]).toEqual([false, true])
  tracked.begin(newest)
  connect()
  expect([busy.isDestroyed, newest.isDestroyed]).toEqual([true, false])
})

test('kept connections are not replaced, and leave the reserve to others', () => {
  const { tracked, connect } = connections(3, 1)
  const kept = [connect(), connect()]
  expect(kept.map((socket) => tracked.keep(socket))).toEqual([true, true])
  const third = connect()
  expect(tracked.keep(third)).toBe(false)
  const fourth = connect()
  expect([...kept, third, fourth].map(({ isDestroyed }) => isDestroyed)).toEqual([false, false, true, false])
  kept[0]?.destroy()
  expect(tracked.keep(fourth)).toBe(true)
})

test('a stopping server closes connections without a request', () => {
  const { tracked, connect } = connections(3, 0)
  const [busy, idle] = [connect(), connect()]
  const end = tracked.begin(busy)
  tracked.closeIdle()
  expect([busy.isDestroyed, idle.isDestroyed]).toEqual([false, true])
  end()
  tracked.closeIdle()
  expect(busy.isDestroyed).toBe(true)
  expect(tracked.size).toBe(0)
})
