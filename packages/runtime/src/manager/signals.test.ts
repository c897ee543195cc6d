import { EventEmitter } from 'node:events'
import { VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { silentLogger } from '../log/logger.ts'
import { type SignalProcess, stopSignals } from './signals.ts'

class FakeProcess extends EventEmitter implements SignalProcess {
  readonly exits: number[] = []

  exit(code: number): void {
    this.exits.push(code)
  }
}

function listening(deadline?: number) {
  const clock = new VirtualClock()
  const target = new FakeProcess()
  const signals = stopSignals({ log: silentLogger, clock, process: target, deadline })
  const send = (name: string): void => void target.emit(name, name)
  return { clock, target, signals, send }
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s stops the process cleanly', (name) => {
  const { send, signals, target } = listening()
  send(name)
  expect(signals.signal.aborted).toBe(true)
  expect(target.exits).toEqual([])
})

test('one Ctrl-C that arrives several times counts once, and the next one ends the process at once', async () => {
  const { clock, send, target } = listening()
  send('SIGINT')
  send('SIGINT')
  send('SIGTERM')
  await clock.advance(299)
  send('SIGINT')
  expect(target.exits).toEqual([])
  await clock.advance(1)
  send('SIGINT')
  expect(target.exits).toEqual([130])
})

test('a Ctrl-C and a closed terminal have a deadline, and SIGTERM has none unless it is set', async () => {
  const terminated = listening()
  terminated.send('SIGTERM')
  await terminated.clock.advance(60_000)
  expect(terminated.target.exits).toEqual([])
  terminated.send('SIGHUP')
  await terminated.clock.advance(4_500)
  expect(terminated.target.exits).toEqual([1])

  const limited = listening(2_000)
  limited.send('SIGINT')
  limited.send('SIGTERM')
  await limited.clock.advance(2_000)
  expect(limited.target.exits).toEqual([1])
})

test('nothing is left when the process has stopped in time', async () => {
  const { clock, send, signals, target } = listening()
  send('SIGINT')
  signals.dispose()
  expect(target.eventNames()).toEqual([])
  await clock.advance(60_000)
  expect(target.exits).toEqual([])
})
