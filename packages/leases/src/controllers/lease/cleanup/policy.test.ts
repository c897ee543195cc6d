import { ConfigMap, Secret, ServiceAccount } from '@tenure/kube/kinds'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CleanupSettings, defaultLeaseSettings } from '../../../api/types.ts'
import { denied, LeaseHarness, NEWER, SEED, withJob } from '../../../testing/lease-harness.ts'
import { matchesPattern } from './policy.ts'

describe('a pattern', () => {
  test.each([
    ['busybox', 'busybox', true],
    ['busybox', 'busybox:1', false],
    ['busybox:*', 'busybox:1.36', true],
    ['busybox:*', 'evil/busybox:1', false],
    ['registry.example.dev/*', 'registry.example.dev/a/b@sha256:0', true],
    ['registry.example.dev/*', 'registry.example.dev.evil/a', false],
    ['*-cleaner', 'db-cleaner', true],
    ['*-cleaner', 'db-cleaner2', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    // The parts must not overlap.
    ['ab*ba', 'aba', false],
    ['a*a', 'a', false],
    ['*', '', true],
    ['**', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['.*', 'a', false],
    ['[a-z]', 'a', false],
  ])('%j matches %j: %s', (pattern, text, matches) => {
    expect(matchesPattern(text, pattern)).toBe(matches)
  })

  test('a pattern matches as the regular expression with the same meaning does', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
    const words = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    fc.assert(
      fc.property(piece, words, (pattern, text) => {
        expect(matchesPattern(text, pattern)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text))
      }),
      { numRuns: 1_000 },
    )
  })
})

let harness: LeaseHarness
beforeEach(async () => {
  harness = await LeaseHarness.create()
  harness.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { 'run.sh': '#!/bin/sh' } })
})
afterEach(() => harness.stop())

const listed = (more: Partial<CleanupSettings> = {}) => ({
  settings: { cleanup: { ...defaultLeaseSettings.cleanup, ...more } },
})
const status = (): string | undefined => harness.annotations('one')['lease-status']
const secretReads = () => harness.server.requests.filter(({ plural }) => plural === 'secrets')

function allow(kind: typeof ServiceAccount | typeof Secret, name: string, prefix = SEED, value = 'true'): void {
  const annotations = { [`${prefix}allow-cleanup-jobs`]: value }
  harness.server.seed(kind, { metadata: { name, namespace: 'shop', annotations } })
}

describe('a cleanup job with the policy listed', () => {
  test.each([
    [{ 'job-image': 'evil:1' }, /the image evil:1 is not allowed; list it in cleanup\.images/],
    [{ 'job-service-account': 'admin' }, /the ServiceAccount admin is not allowed; annotate it/],
    [{ 'job-service-account': 'missing' }, /the ServiceAccount missing is not allowed: it does not exist/],
    [{ 'job-env-secrets': 'db' }, /the Secret db is not allowed; annotate it .*cleanup\.secrets/],
    [{ 'job-env-secrets': 'open,db' }, /the Secret db is not allowed/],
    [{ 'job-service-account': 'sneaky' }, /the ServiceAccount sneaky is not allowed/],
  ])('a job with %j is not run and keeps the object, even if a failure should delete it', async (more, reason) => {
    for (const name of ['admin', 'sneaky']) {
      harness.server.seed(ServiceAccount, { metadata: { name, namespace: 'shop' } })
    }
    allow(ServiceAccount, 'sneaky', SEED, 'yes')
    allow(Secret, 'open')
    harness.server.seed(Secret, { metadata: { name: 'db', namespace: 'shop' } })
    const { controller } = await harness.start()
    harness.create('one', withJob({ ...more, 'job-on-failure': 'delete' }))
    await harness.clock.advance(70_000)
    expect(status()).toMatch(reason)
    expect(status()).toMatch(/^Lease expired\. The cleanup job cannot be run: /)
    expect(harness.reasons('one')).toContain('CleanupJobConfigInvalid')
    expect(controller.problem).toBeUndefined()
    await harness.clock.advance(3_600_000)
    expect(harness.object('one')).toBeDefined()
    expect(harness.everyJob).toEqual([])
  })

  test('an image that is not allowed is reported when the lease starts', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-image': 'evil:1' }))
    await harness.clock.advance(1_000)
    expect(status()).toMatch(
      /^Lease active\. .* Warning: The cleanup job cannot be run: the image evil:1 is not allowed/,
    )
    expect(harness.reasons('one')).toContain('CleanupJobConfigInvalid')
  })

  test('a job may use what the lists allow, and no Secret is read for it', async () => {
    await harness.start(listed({ images: ['busybox:*'], serviceAccounts: ['*-cleaner'], secrets: ['db'] }))
    const job = { 'job-image': 'busybox:1', 'job-service-account': 'db-cleaner', 'job-env-secrets': 'db' }
    harness.create('one', withJob(job))
    await harness.clock.advance(62_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.firstJob.spec?.template.spec).toMatchObject({
      serviceAccountName: 'db-cleaner',
      containers: [{ image: 'busybox:1', envFrom: [{ secretRef: { name: 'db' } }] }],
    })
    expect(secretReads()).toEqual([])
  })

  test.each([SEED, NEWER])('a job may use what is annotated with %s', async (prefix) => {
    allow(ServiceAccount, 'cleaner', prefix)
    allow(Secret, 'db', prefix)
    await harness.start()
    harness.create('one', withJob({ 'job-service-account': 'cleaner', 'job-env-secrets': 'db' }))
    await harness.clock.advance(62_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
    // Only metadata leaves the server.
    expect(secretReads().map(({ headers }) => headers['accept'])).toEqual([
      expect.stringContaining('PartialObjectMetadata'),
    ])
  })

  test('a controller without access to Secrets says what to grant, and no lease is affected', async () => {
    allow(Secret, 'db')
    harness.server.intercept(({ plural, verb }) => (plural === 'secrets' ? denied(verb, 'secrets') : undefined))
    const { controller } = await harness.start()
    harness.create('one', withJob({ 'job-env-secrets': 'db' }))
    await harness.clock.advance(70_000)
    expect(status()).toMatch(/the Secret db is not allowed, and its annotations are not readable; grant .* get on it/)
    expect(controller.problem).toBeUndefined()
  })

  test('a kept object is cleaned up and deleted after its ServiceAccount is annotated', async () => {
    harness.server.seed(ServiceAccount, { metadata: { name: 'cleaner', namespace: 'shop' } })
    await harness.start()
    harness.create('one', withJob({ 'job-service-account': 'cleaner' }))
    await harness.clock.advance(70_000)
    expect(harness.object('one')).toBeDefined()
    allow(ServiceAccount, 'cleaner')
    await harness.clock.advance(60_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
  })

  test('a kept object is cleaned up and deleted after its image is listed', async () => {
    const before = await harness.start()
    harness.create('one', withJob({ 'job-image': 'busybox:1' }))
    await harness.clock.advance(70_000)
    await before.stop()
    await harness.start(listed({ images: ['busybox:*'] }))
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
  })

  test('the default image may be named', async () => {
    await harness.start(listed({ image: 'example.dev/tools:7' }))
    harness.create('one', withJob({ 'job-image': 'example.dev/tools:7' }))
    harness.create('two', withJob())
    await harness.clock.advance(62_000)
    const images = harness.everyJob.map(({ spec }) => spec?.template.spec?.containers[0]?.image)
    expect(images).toEqual(['example.dev/tools:7', 'example.dev/tools:7'])
  })
})
