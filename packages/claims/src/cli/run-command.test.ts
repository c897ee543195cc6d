import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CliFixture } from './cli.testing.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'tenure-command-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

const at = (name: string): string => path.join(directory, name)
const textOf = (name: string): string => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '')

/** A command that records the signals it gets, and ends with SIGTERM or SIGINT unless it ignores them. */
function recorder(onSignal = 'exit 0'): readonly string[] {
  const traps = ['INT', 'TERM', 'HUP', 'USR1', 'USR2']
    .map((signal) => `trap 'echo ${signal} >> ${at('signals')}; ${/USR/.test(signal) ? ':' : onSignal}' ${signal}`)
    .join('\n')
  return ['sh', '-c', `${traps}\necho ready > ${at('ready')}\nwhile [ ! -e ${at('end')} ]; do sleep 0.05; done; exit 9`]
}

const started = (): Promise<void> => vi.waitFor(() => expect(textOf('ready')).toBe('ready\n'), { timeout: 10_000 })

describe.skipIf(process.platform === 'win32')('tenure claim -- command', () => {
  test('the command gets the claim in its environment, and its exit code is passed on', async () => {
    await using cli = await CliFixture.start({ data: { fqdn: 'web.example', path: '/x' } })
    const script = `echo "$FQDN $CLAIM_PATH $CLAIM_ID $CLAIM_EXPIRES_AT $CLAIMS_URL" > ${at('out')}; exit 7`
    expect(await cli.claim({ pool: 'chrome', url: cli.server.url }, 'sh', '-c', script)).toBe(7)
    const [fqdn, claimPath, id, expiresAt, url] = textOf('out').trim().split(' ')
    expect([fqdn, claimPath, url]).toEqual(['web.example', '/x', cli.server.url])
    expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(cli.server.to('release').map(({ path: target }) => target)).toEqual([`/release/${id}`])
    expect([cli.written, cli.warned, cli.signals.eventNames()]).toEqual([[], [], []])
  })

  test('the claim is renewed while the command runs', async () => {
    await using cli = await CliFixture.start()
    const running = cli.claim({ ttl: '3s' }, ...recorder())
    await vi.waitFor(() => expect(cli.server.to('renew').length).toBeGreaterThan(2), { timeout: 15_000 })
    expect(cli.server.claims.size).toBe(1)
    cli.signal('SIGTERM')
    expect(await running).toBe(0)
    expect(cli.server.claims.size).toBe(0)
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s reaches the command, and the claim is released',
    async (signal) => {
      await using cli = await CliFixture.start()
      const running = cli.claim({}, ...recorder('exit 3'))
      await started()
      cli.signal(signal)
      expect(await running).toBe(3)
      expect(textOf('signals')).toBe(`${signal.slice(3)}\n`)
      expect(cli.server.claims.size).toBe(0)
    },
  )

  test('SIGUSR1 and SIGUSR2 reach the command, which goes on', async () => {
    await using cli = await CliFixture.start()
    const running = cli.claim({}, ...recorder())
    await started()
    for (const [signal, seen] of [
      ['SIGUSR1', 'USR1\n'],
      ['SIGUSR2', 'USR1\nUSR2\n'],
    ] as const) {
      cli.signal(signal)
      await vi.waitFor(() => expect(textOf('signals')).toBe(seen), { timeout: 5_000 })
    }
    cli.signal('SIGTERM')
    expect(await running).toBe(0)
  })

  test('a command that a signal ends gives 128 and the number of the signal', async () => {
    await using cli = await CliFixture.start()
    expect(await cli.claim({}, 'sh', '-c', 'kill -KILL $$')).toBe(137)
    const running = cli.claim({}, 'sh', '-c', `echo ready > ${at('ready')}; exec sleep 60`)
    await started()
    cli.signal('SIGTERM')
    expect(await running).toBe(143)
    expect(cli.server.claims.size).toBe(0)
  })

  test('with a terminal, SIGINT is left to the terminal and other signals are forwarded', async () => {
    await using cli = await CliFixture.start()
    cli.isTerminal = true
    const running = cli.claim({}, ...recorder())
    await started()
    cli.signal('SIGINT')
    cli.signal('SIGTERM')
    expect(await running).toBe(0)
    expect(textOf('signals')).toBe('TERM\n')
  })

  test('a signal before the claim is there ends the wait, and the command does not run', async () => {
    await using cli = await CliFixture.start()
    cli.server.fault('claim', 'none')
    const running = cli.claim({}, ...recorder())
    await vi.waitFor(() => expect(cli.server.to('claim')).toHaveLength(1))
    cli.signal('SIGTERM')
    expect(await running).toBe(143)
    expect(textOf('ready')).toBe('')
  })

  test('a claim that is lost ends the command with SIGTERM and exit code 124', async () => {
    await using cli = await CliFixture.start()
    const running = cli.claim({ ttl: '4s' }, ...recorder())
    await started()
    cli.server.claims.clear()
    expect(await running).toBe(124)
    expect(textOf('signals')).toBe('TERM\n')
    expect(cli.warned).toEqual([
      expect.stringMatching(/^The claim is lost; sending SIGTERM .* 404: claim not found\.$/),
    ])
  })

  test('a claim at its maximum TTL is lost, and the command ends', async () => {
    await using cli = await CliFixture.start({ maxTtl: '1s' })
    expect(await cli.claim({ ttl: '1s' }, ...recorder())).toBe(124)
    expect(cli.warned.at(-1)).toMatch(/^The claim is lost/)
  })

  test('a renewal that fails is reported, and the command goes on', async () => {
    await using cli = await CliFixture.start()
    cli.server.fault('renew', { status: 500, message: 'failed to renew claim' })
    // Long enough for a slow machine to stop the command before the claim ends.
    const running = cli.claim({ ttl: '8s' }, ...recorder())
    await vi.waitFor(() => expect(cli.server.to('renew').length).toBeGreaterThan(1), { timeout: 15_000 })
    cli.signal('SIGTERM')
    expect(await running).toBe(0)
    expect(cli.warned).toEqual([expect.stringMatching(/^The claim could not be renewed; trying again\. .* 500: /)])
  })

  test('a claim that cannot be released is reported with its expiry, and the exit code is the one of the command', async () => {
    await using cli = await CliFixture.start()
    cli.server.fault('release', { status: 403, message: 'claim not managed by controller' })
    expect(await cli.claim({}, 'sh', '-c', 'exit 5')).toBe(5)
    expect(cli.warned).toEqual([
      expect.stringMatching(/^The claim could not be released; it expires at \S+Z\. .* 403: /),
    ])
  })

  test('a claim that is gone at the end is released', async () => {
    await using cli = await CliFixture.start()
    const running = cli.claim({}, ...recorder())
    await started()
    cli.server.claims.clear()
    cli.signal('SIGTERM')
    expect(await running).toBe(0)
    expect(cli.warned).toEqual([])
  })

  test.each([
    ['/missing/command', 127],
    ['/etc/passwd', 126],
  ])('the command %s cannot be run: exit code %i, and the claim is released', async (command, code) => {
    await using cli = await CliFixture.start()
    expect(await cli.claim({}, command)).toBe(code)
    expect(cli.warned).toHaveLength(1)
    expect(cli.server.to('release')).toHaveLength(1)
    expect(cli.server.claims.size).toBe(0)
  })

  test('a return value that no environment can hold releases the claim', async () => {
    await using cli = await CliFixture.start({ data: { binary: 'a\0b' } })
    expect(await cli.claim({}, 'true')).toBe(125)
    expect(cli.server.claims.size).toBe(0)
  })
})
