import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { HostRecord } from './host-record.ts'
import { readNote } from './host-record.ts'

interface Line {
  readonly state: string
  readonly host?: HostRecord
}

/** A child process that joins or hosts. */
class Participant {
  readonly lines: Line[] = []
  readonly #child: ChildProcess

  constructor(directory: string) {
    const program = fileURLToPath(new URL('./testing/host-child.ts', import.meta.url))
    const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    let rest = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      this.lines.push(...parts.map((part) => JSON.parse(part) as Line))
    })
    onTestFinished(() => void child.kill('SIGKILL'))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get state(): string | undefined {
    return this.lines.at(-1)?.state
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ended = once(this.#child, 'close')
    this.#child.kill(signal)
    await ended
  }
}

async function until(condition: () => unknown): Promise<void> {
  const deadline = Date.now() + 15_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${String(condition)}`)
    await delay(10)
  }
}

interface Answer {
  readonly pid: number
  readonly revision: number
  readonly keys: readonly string[]
}

/** Retries until a server responds, as clients of a killed host do. */
async function ask(url: string, key?: string): Promise<Answer> {
  const deadline = Date.now() + 15_000
  for (;;) {
    try {
      const response = await fetch(`${url}/${key ?? ''}`, { method: key ? 'PUT' : 'GET' })
      return (await response.json()) as Answer
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(10)
    }
  }
}

test('each time the host is killed, a remaining process serves the stored data at the same address', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tenure-host-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const first = new Participant(directory)
  await until(() => first.state === 'hosting')
  const url = first.lines.at(-1)?.host?.url ?? ''
  const others = [new Participant(directory), new Participant(directory)]
  await until(() => others.every(({ state }) => state === 'joined'))
  expect(others.map(({ lines }) => lines[0]?.host)).toEqual([first.lines[0]?.host, first.lines[0]?.host])
  expect(await ask(url, 'one')).toEqual({ pid: first.pid, revision: 2, keys: ['one'] })

  const killedAt = Date.now()
  await first.end('SIGKILL')
  const second = await ask(url)
  expect(second).toMatchObject({ revision: 2, keys: ['one'] })
  // The target is 2 s; a busy test machine gets more.
  expect(Date.now() - killedAt).toBeLessThan(8000)
  const [heir, last] = others.toSorted((a) => (a.pid === second.pid ? -1 : 1))
  expect(heir?.pid).toBe(second.pid)
  await until(() => last?.lines.at(-1)?.host?.pid === second.pid)
  expect(last?.lines.at(-1)?.host?.url).toBe(url)
  expect(await ask(url, 'two')).toMatchObject({ pid: heir?.pid, revision: 3 })

  await heir?.end('SIGKILL')
  expect(await ask(url)).toEqual({ pid: last?.pid, revision: 3, keys: ['one', 'two'] })
  const late = new Participant(directory)
  await until(() => late.state === 'joined')
  expect(late.lines[0]?.host).toMatchObject({ url, pid: last?.pid })

  // A clean stop is followed by a takeover as well.
  await last?.end('SIGTERM')
  expect(await ask(url)).toMatchObject({ pid: late.pid, keys: ['one', 'two'] })
  await until(() => late.state === 'hosting')
  await late.end('SIGTERM')
  expect(readNote(directory)).toMatchObject({ state: 'stopped', url, pid: late.pid })
}, 60_000)
