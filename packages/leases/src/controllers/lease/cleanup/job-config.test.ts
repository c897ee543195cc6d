import { describe, expect, test } from 'vitest'
import { SEED_FAMILY } from '../../../api/annotations.ts'
import { readJobConfig } from './job-config.ts'
import { printRecord, readRecord } from './record.ts'

const read = (annotations: Readonly<Record<string, string>>, namespaced = true) =>
  readJobConfig(
    Object.fromEntries(Object.entries(annotations).map(([name, value]) => [SEED_FAMILY.prefix + name, value])),
    SEED_FAMILY,
    namespaced,
  )

describe('readJobConfig', () => {
  test('an object without a job has no config', () => {
    expect(read({ 'job-wait': 'nonsense' })).toBeUndefined()
    expect(read({ 'on-delete-job': '' })).toBeUndefined()
  })

  test('the defaults are those of the contract', () => {
    expect(read({ 'on-delete-job': 'scripts/run.sh' })).toEqual({
      ok: true,
      config: {
        configMap: 'scripts',
        scriptKey: 'run.sh',
        serviceAccount: 'default',
        image: undefined,
        wait: false,
        timeout: 300_000,
        ttl: 300,
        backoffLimit: 3,
        envSecrets: [],
        onFailure: 'keep',
      },
    })
  })

  test.each([
    ['true', true],
    ['True', true],
    ['1', true],
    ['t', true],
    ['false', false],
    ['0', false],
    ['F', false],
  ])('job-wait %s is %s', (text, wait) => {
    expect(read({ 'on-delete-job': 'a/b', 'job-wait': text })).toMatchObject({ config: { wait } })
  })

  test.each([
    [{ 'on-delete-job': 'scripts' }, /<configmap>\/<script-key>/],
    [{ 'on-delete-job': '/b' }, /<configmap>/],
    [{ 'on-delete-job': 'a/' }, /<configmap>/],
    [{ 'on-delete-job': 'a/b/c' }, /<configmap>/],
    [{ 'on-delete-job': 'A B/c' }, /<configmap>/],
    [{ 'on-delete-job': 'a/b c' }, /<configmap>/],
    [{ 'on-delete-job': 'a/b', 'job-wait': 'yes' }, /job-wait must be true or false/],
    [{ 'on-delete-job': 'a/b', 'job-timeout': '5' }, /job-timeout: 5 has no unit/],
    [{ 'on-delete-job': 'a/b', 'job-timeout': 'forever' }, /job-timeout must be between/],
    [{ 'on-delete-job': 'a/b', 'job-timeout': '0s' }, /job-timeout must be between/],
    [{ 'on-delete-job': 'a/b', 'job-ttl': '5m' }, /job-ttl must be a number of seconds/],
    [{ 'on-delete-job': 'a/b', 'job-ttl': '-1' }, /job-ttl/],
    [{ 'on-delete-job': 'a/b', 'job-ttl': '3000000000' }, /job-ttl/],
    [{ 'on-delete-job': 'a/b', 'job-backoff-limit': 'x' }, /job-backoff-limit/],
    [{ 'on-delete-job': 'a/b', 'job-env-secrets': 'a,B C' }, /job-env-secrets/],
    [{ 'on-delete-job': 'a/b', 'job-service-account': 'Not A Name' }, /job-service-account/],
    [{ 'on-delete-job': 'a/b', 'job-image': 'a b' }, /job-image/],
    [{ 'on-delete-job': 'a/b', 'job-on-failure': 'explode' }, /job-on-failure must be keep or delete/],
  ])('the config %j is refused', (annotations, reason) => {
    const reading = read(annotations)
    expect(reading).toMatchObject({ ok: false, onFailure: 'keep' })
    expect(reading && !reading.ok && reading.reason).toMatch(reason)
  })

  test('the reason lists all problems at once', () => {
    expect(read({ 'on-delete-job': 'x', 'job-ttl': 'y', 'job-on-failure': 'Delete' }, false)).toMatchObject({
      ok: false,
      onFailure: 'delete',
      reason: expect.stringMatching(/<configmap>.*; .*namespace.*; job-ttl/),
    })
  })
})

describe('a cleanup record', () => {
  const record = { job: 'j', expireAt: '2026-01-01T00:00:00Z', attempt: 2, state: 'failed', retryAt: 'z' } as const

  test('a record is read back for its own expiry only', () => {
    expect(readRecord(printRecord(record), record.expireAt)).toEqual(record)
    expect(readRecord(printRecord(record), '2026-01-01T00:00:01Z')).toBeUndefined()
  })

  test.each([
    undefined,
    '',
    '{',
    'null',
    '1',
    '[]',
    '{"expireAt":"2026-01-01T00:00:00Z"}',
    JSON.stringify({ ...record, state: 'x' }),
    JSON.stringify({ ...record, attempt: 'x' }),
    JSON.stringify({ ...record, job: 1 }),
  ])('the text %j is not a record', (text) => {
    expect(readRecord(text, record.expireAt)).toBeUndefined()
  })
})
