import { describe, expect, test, vi } from 'vitest'
import { CliFixture } from './cli.testing.ts'
import { claimCommand } from './commands.ts'

/** Generous for slow machines: polling ends with its condition. */
const POLL = { timeout: 15_000 }

describe('tenure claim', () => {
  test('it takes a claim and prints it with the commands to renew and release it', async () => {
    await using cli = await CliFixture.start()
    expect(await cli.claim({ pool: 'chrome', ttl: '5m', set: ['tag=v1'], token: 'secret' })).toBe(0)
    const [claim] = cli.server.claims.values()
    expect(claim).toMatchObject({ pool: 'chrome', values: { tag: 'v1' } })
    const [request] = cli.server.requests
    expect(request?.headers.authorization).toBe('Bearer secret')
    const output = cli.written.join('\n')
    expect(output).toMatch(
      new RegExp(`^ID +${claim?.id}\nEXPIRES +\\S+Z \\(in (5m|4m59s)\\)\nWARM +no\nDATA +fqdn=web.example`),
    )
    expect(output).toContain(`To renew it:    tenure claim renew ${claim?.id} --ttl 5m\n`)
    expect(output).toContain(`To release it:  tenure claim release ${claim?.id}`)
  })

  test('-o json prints the response, -o yaml the same in YAML, -o env lines for a shell', async () => {
    await using cli = await CliFixture.start()
    for (const output of ['json', 'yaml', 'env']) expect(await cli.claim({ output })).toBe(0)
    const [json = '', yaml = '', env = ''] = cli.written
    expect(JSON.parse(json)).toMatchObject({ data: { fqdn: 'web.example' }, status: 'ok', renewMethod: 'POST' })
    expect(yaml).toMatch(/^data:\n {2}fqdn: web.example\nexpiresAt: /)
    expect(env).toMatch(/^CLAIM_ID=[a-z0-9]+\nCLAIM_EXPIRES_AT=\S+Z\nFQDN=web.example$/)
  })

  test('invalid input is an error with exit code 2, and nothing is sent', async () => {
    await using cli = await CliFixture.start()
    const inputs = [
      { output: 'xml' },
      { url: 'localhost:8080' },
      { set: ['x'] },
      { values: '/missing' },
      { timeout: 'soon' },
      { timeout: '0s' },
      { ttl: ' ' },
      { pool: '' },
    ]
    for (const options of inputs) expect(await cli.claim(options)).toBe(2)
    expect(await cli.claim({ output: 'json' }, 'true')).toBe(2)
    expect(await claimCommand.run(cli.context(), { operands: [], commandLine: [] }, {})).toBe(2)
    expect(await claimCommand.run(cli.context(), { operands: ['chrome'] }, {})).toBe(2)
    expect(cli.warned.at(-1)).toContain('write -- before it')
    expect(cli.warned).toHaveLength(inputs.length + 3)
    expect(cli.server.requests).toEqual([])
  })

  test('input that the server refuses is an error with exit code 2, and nothing is taken', async () => {
    await using cli = await CliFixture.start()
    expect(await cli.claim({ pool: 'nope' })).toBe(2)
    expect(await cli.claim({ ttl: '5 minutes' })).toBe(2)
    expect(await cli.claim({ ttl: '0s' }, 'true')).toBe(2)
    expect(cli.warned).toEqual([
      `The claims API at ${cli.server.url} answered 404: unknown pool "nope".`,
      expect.stringContaining('answered 400: invalid ttl duration: '),
      expect.stringContaining('answered 400: ttl must be greater than 0.'),
    ])
    expect(cli.server.claims.size).toBe(0)
  })

  test('a failure of the server is exit code 1, and 125 with a command that could not run', async () => {
    await using cli = await CliFixture.start()
    const fault = { status: 500, message: 'failed to create claim' }
    cli.server.fault('claim', fault, fault)
    expect(await cli.claim()).toBe(1)
    expect(await cli.claim({}, 'true')).toBe(125)
    expect(cli.warned[0]).toBe(`The claims API at ${cli.server.url} answered 500: failed to create claim.`)
  })

  test('a retry is announced once for each reason', async () => {
    await using cli = await CliFixture.start()
    const busy = { status: 503, message: 'starting', retryAfter: 0 }
    cli.server.fault('claim', busy, busy, { status: 429, message: 'too many claims', retryAfter: 0 })
    expect(await cli.claim()).toBe(0)
    expect(cli.warned).toEqual([
      expect.stringMatching(/answered 503: starting\. Trying again in 1 s\.$/),
      expect.stringMatching(/answered 429: too many claims\. Trying again in 1 s\.$/),
    ])
  })

  test('a signal ends the wait for the claim', async () => {
    await using cli = await CliFixture.start()
    cli.server.fault('claim', 'none')
    const taking = cli.claim()
    await vi.waitFor(() => expect(cli.server.to('claim')).toHaveLength(1))
    cli.signal('SIGINT')
    expect(await taking).toBe(130)
    expect(cli.signals.eventNames()).toEqual([])
  })
})

describe('the subcommands', () => {
  test('a claim is shown, listed, renewed and released', async () => {
    await using cli = await CliFixture.start()
    await cli.claim({ pool: 'chrome', ttl: '1m' })
    const [{ id = '', expiresAt = 0 } = {}] = cli.server.claims.values()
    cli.written.length = 0
    expect(await cli.run('show', [id])).toBe(0)
    expect(await cli.run('list')).toBe(0)
    expect(await cli.run('renew', [id], { ttl: '5m' })).toBe(0)
    expect(cli.server.claims.get(id)?.expiresAt).toBeGreaterThan(expiresAt)
    expect(await cli.run('release', [id])).toBe(0)
    expect(cli.server.claims.size).toBe(0)
    const output = cli.written.join('\n')
    expect(output).toMatch(/STATUS +ready: all resources ready\n/)
    expect(output).toMatch(/Pod +claim-\w+ +yes +pod ready\n/)
    expect(output).toMatch(new RegExp(`${id} +chrome +ready +1/1 `))
    expect(output).toMatch(
      /POOL +READY +PENDING +FAILING +CLAIMED +PROBLEM\ndefault +2 +1 +0 +0 +-\nchrome +2 +1 +0 +1 +-\n/,
    )
    expect(output).toMatch(new RegExp(`claim ${id} expires at \\S+Z \\(in .*\\)\nclaim ${id} released$`))
  })

  test('-o json and -o yaml print the answers for programs', async () => {
    await using cli = await CliFixture.start()
    await cli.claim()
    const [{ id = '' } = {}] = cli.server.claims.values()
    cli.written.length = 0
    await cli.run('list', [], { output: 'json' })
    await cli.run('show', [id], { output: 'yaml' })
    expect(JSON.parse(cli.written[0] ?? '')).toMatchObject({ claims: [{ id }], pools: [{ name: 'default' }, {}] })
    expect(cli.written[1]).toContain(`\nid: ${id}\n`)
    expect(await cli.run('list', [], { output: 'env' })).toBe(2)
  })

  test('a claim that does not exist is exit code 1', async () => {
    await using cli = await CliFixture.start()
    for (const name of ['show', 'renew', 'release']) expect(await cli.run(name, ['gone'])).toBe(1)
    expect(new Set(cli.warned)).toEqual(new Set([`The claims API at ${cli.server.url} answered 404: claim not found.`]))
  })

  test('list -w prints a line for each claim that comes or goes', async () => {
    await using cli = await CliFixture.start()
    const running = cli.run('list', [], { watch: true })
    await cli.claim({ output: 'name' })
    const [name = ''] = cli.written
    const id = name.replace('claim/', '')
    const lines = (): string => cli.written.slice(1).join('\n')
    await vi.waitFor(() => expect(lines()).toMatch(new RegExp(`^ADDED +${id} +default `, 'm')), POLL)
    await cli.run('release', [id])
    await vi.waitFor(() => expect(lines()).toMatch(new RegExp(`^DELETED +${id} `, 'm')), POLL)
    cli.end.abort()
    expect(await running).toBe(0)
  })

  test('an API without claims is reported on standard error', async () => {
    await using cli = await CliFixture.start({ pools: [] })
    expect(await cli.run('list')).toBe(0)
    expect([cli.warned, cli.written]).toEqual([['No claims found.'], []])
  })
})
