import { ApiError, TenureError } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import type { CreateLoggerOptions } from './pino-logger.ts'
import { createLogger } from './pino-logger.ts'

async function logger(options: CreateLoggerOptions = {}) {
  const written: string[] = []
  const log = await createLogger({
    clock: new VirtualClock(),
    destination: { write: (text) => written.push(text) },
    ...options,
  })
  return { log, written, json: () => JSON.parse(written.at(-1) ?? 'null') as Record<string, unknown> }
}

const formats = ['json', 'text'] as const

describe('createLogger', () => {
  test('each line is a JSON object', async () => {
    const { log, written, json } = await logger()
    log.child({ controller: 'websites' }).child({ reconcileId: 'r1' }).info('reconciled', { took: 12, level: 'x' })
    expect(json()).toEqual({
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
      msg: 'reconciled',
      controller: 'websites',
      reconcileId: 'r1',
      took: 12,
      level_: 'x',
    })
    expect(written.at(-1)?.endsWith('\n')).toBe(true)
  })

  test('the text format is readable in a terminal', async () => {
    const { log, written } = await logger({ format: 'text' })
    log
      .child({ controller: 'websites' })
      .warn('is slow', { took: 12, why: 'API away', ref: { a: [1] }, gone: undefined })
    expect(written).toEqual([
      '2026-01-01T00:00:00.000Z WARN  is slow controller=websites took=12 why="API away" ref={"a":[1]}\n',
    ])
  })

  test.each(formats)('a %s logger and its children respect the level', async (format) => {
    const { log, written } = await logger({ format, level: 'warn' })
    for (const each of [log, log.child({ a: 1 })]) {
      each.debug('no')
      each.info('no')
      each.warn('yes')
      each.error('yes')
    }
    expect(written).toHaveLength(4)
    expect(written.join('')).not.toContain('no')
    await expect(createLogger({ level: 'loud' as never })).rejects.toMatchObject({ code: 'TENURE_LOG_LEVEL' })
  })

  test.each(formats)(
    'a %s logger asks for the facts of a child once, with the first line that is written',
    async (format) => {
      const { log, written } = await logger({ format })
      let asked = 0
      const child = log.child(() => ({ reconcileId: `r${++asked}` }))
      child.debug('not written')
      child.child({ a: 1 }).debug('not written')
      expect(asked).toBe(0)
      child.info('written')
      child.child({ a: 1 }).info('written')
      expect(written.map((line) => line.includes('r1'))).toEqual([true, true])
      expect(asked).toBe(1)
    },
  )

  test('errors carry code and causes, and unexpected errors a stack', async () => {
    const cause = new ApiError('pods "a" not found', { status: 404, reason: 'NotFound' }, { cause: new Error('root') })
    const error = new TenureError('TENURE_TEST', 'It failed', { cause, fate: 'retry' })
    const asJson = await logger()
    asJson.log.error('failed', { error })
    expect(asJson.json()).toMatchObject({
      error: {
        name: 'TenureError',
        code: 'TENURE_TEST',
        fate: 'retry',
        message: 'It failed',
        cause: {
          code: 'TENURE_API_NOT_FOUND',
          status: 404,
          reason: 'NotFound',
          cause: { message: 'root', stack: expect.stringContaining('pino-logger.test.ts') },
        },
      },
    })
    const asText = await logger({ format: 'text' })
    asText.log.error('failed', { error })
    const [text = ''] = asText.written
    expect(text).toMatch(
      /^\S+ ERROR failed error="It failed \(TENURE_TEST\)"\n {4}caused by ApiError: .*\n {6}caused by Error: root\n {8}Error: root\n {8}at /,
    )
    const bug = await logger()
    bug.log.error('failed', { error: new TenureError('TENURE_TEST', 'Broken', { fate: 'bug' }) })
    expect(bug.json()).toMatchObject({ error: { stack: expect.stringContaining('pino-logger.test.ts') } })
  })

  test.each(formats)('a %s logger never writes a secret', async (format) => {
    const { log, written } = await logger({ format })
    const s3cret = 's3cr3t-value-1234'
    log.child({ token: s3cret, headers: { Authorization: `Bearer ${s3cret}` } }).info(`sent Bearer ${s3cret}`, {
      password: s3cret,
      dbPassword: s3cret,
      bearerToken: s3cret,
      'refresh-token': s3cret,
      clientSecret: s3cret,
      'client-key-data': s3cret,
      url: `postgres://user:${s3cret}@host/db`,
      cookie: [s3cret],
      nested: { deep: { apiKey: s3cret } },
      map: new Map([['private_key', s3cret]]),
      object: { kind: 'Secret', metadata: { name: 'db', namespace: 'shop' }, data: { x: s3cret } },
      error: new Error(`refused: Basic ${s3cret}`, { cause: { password: s3cret } }),
      bytes: Buffer.from(s3cret),
    })
    expect(written).toHaveLength(1)
    expect(written[0]).not.toContain('s3cr3t')
    expect(written[0]).toContain('<hidden>')
    expect(written[0]).toContain('Secret shop/db')
  })

  test('values that are not secret are not hidden', async () => {
    const { log, json } = await logger()
    const facts = {
      secretName: 'db',
      tokens: 3,
      token: true,
      key: 'shop/one',
      tokenReview: 'a',
      url: 'https://a:6443/b',
    }
    log.info('x', facts)
    expect(json()).toMatchObject(facts)
  })

  test.each(formats)('a %s logger accepts any value', async (format) => {
    const { log, written } = await logger({ format })
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    const looped = new Error('looped')
    looped.cause = looped
    log.info('x', {
      cycle,
      looped,
      big: 1n,
      not: Number.NaN,
      fn: () => 1,
      symbol: Symbol('s'),
      date: new Date(Number.NaN),
      set: new Set([1]),
      many: Array.from({ length: 10_000 }, (_, i) => i),
      none: null,
      all: new AggregateError([new Error('one')], 'all'),
    })
    expect(written).toHaveLength(1)
    expect(written[0]?.length).toBeLessThan(40_000)
    expect(written[0]).toContain('NaN')
  })
})
