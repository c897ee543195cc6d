import type { KubeObject, Stored } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { NEWER_FAMILY, SEED_FAMILY } from '../../../api/annotations.ts'
import type { DatedLease } from '../terms.ts'
import { parseTime } from '../../../api/time.ts'
import type { JobConfigReading } from './job-config.ts'
import { type CleanupRecord, printRecord } from './record.ts'
import { type HeldJob, isNeeded, printSource, readSource } from './job-source.ts'

const END = '2026-01-01T00:01:00Z'
const { prefix } = SEED_FAMILY
const source = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  name: 'web',
  uid: 'u1',
  expireAt: END,
  attempt: 2,
  ttl: 300,
}
const job: HeldJob = { ref: { name: 'job', namespace: 'shop' }, prefix, source }

function objectWith(annotations: Readonly<Record<string, string>>, uid = 'u1'): Stored<KubeObject> {
  const metadata = { name: 'web', namespace: 'shop', uid, resourceVersion: '1', creationTimestamp: END, annotations }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata }
}

const badConfig: JobConfigReading = { ok: false, reason: 'no', onFailure: 'keep' }
const lease: DatedLease = {
  family: SEED_FAMILY,
  start: 0,
  expireAt: parseTime(END) ?? 0,
  propagation: 'Background',
  job: badConfig,
}

describe('isNeeded', () => {
  const recorded = (state: CleanupRecord['state'], attempt: number, expireAt = END) =>
    objectWith({ [`${prefix}cleanup-job-record`]: printRecord({ expireAt, attempt, state }) })

  test.each([
    ['while nothing stands on the object', objectWith({}), true],
    ['while what stands there is of another end', recorded('done', 2, '2026-01-01T00:02:00Z'), true],
    ['while it is waited for', recorded('running', 2), true],
    ['after the one before it failed', recorded('failed', 1), true],
    ['after it failed', recorded('failed', 2), false],
    ['after one after it failed', recorded('failed', 3), false],
    ['while another is waited for', recorded('running', 3), false],
    ['after all is done', recorded('done', 2), false],
    ['by an object of another uid', objectWith({}, 'u2'), false],
  ])('a job is needed: %s: %s', (_, object, expected) => {
    expect(isNeeded(job, object, { lease })).toBe(expected)
  })

  test.each([
    ['of none', undefined],
    ['that ends at another time', { ...lease, expireAt: lease.expireAt + 1_000 }],
    ['that ends without a job', { ...lease, job: undefined }],
    ['of another family', { ...lease, family: NEWER_FAMILY }],
  ])('a job is not needed for a lease %s', (_, other) => {
    expect(isNeeded(job, objectWith({}), { lease: other })).toBe(false)
  })
})

const said = (text: string) => readSource(objectWith({ [`${prefix}cleanup-job-source`]: text }), prefix)

describe('readSource', () => {
  test('a source is read as it was written', () => {
    expect(said(printSource(source))).toEqual(source)
  })

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...source, uid: 1 }),
    JSON.stringify({ ...source, ttl: -1 }),
    JSON.stringify({ ...source, ttl: 0.5 }),
    JSON.stringify({ ...source, attempt: '1' }),
  ])('the text %s is not a source', (text) => {
    expect(said(text)).toBeUndefined()
  })

  test('a source of another family is not read', () => {
    const object = objectWith({ [`${prefix}cleanup-job-source`]: printSource(source) })
    expect(readSource(object, NEWER_FAMILY.prefix)).toBeUndefined()
  })
})
