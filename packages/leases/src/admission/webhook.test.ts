import { handleReview } from '@tenure/runtime/webhooks'
import { silentLogger } from '@tenure/runtime'
import { describe, expect, test } from 'vitest'
import { NEWER_FAMILY, SEED_FAMILY } from '../api/annotations.ts'
import type { Annotations } from './problems.ts'
import { leaseAnnotationsWebhook } from './webhook.ts'

const SEED = SEED_FAMILY.prefix
const NEWER = NEWER_FAMILY.prefix

interface Situation {
  readonly before?: Annotations
  /** Default true. */
  readonly namespaced?: boolean
}

const object = (annotations: Annotations | undefined) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...(annotations && { annotations }) },
})

/** The message with which it is refused; empty if it is not. */
async function refusal(now: Annotations | undefined, { before, namespaced = true }: Situation = {}): Promise<string> {
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      ...(namespaced && { namespace: 'default' }),
      operation: before ? 'UPDATE' : 'CREATE',
      object: object(now),
      oldObject: before ? object(before) : null,
    },
  }
  const answer = await handleReview(leaseAnnotationsWebhook(), review, { log: silentLogger })
  const { response } = answer.body as { response: { allowed: boolean; status?: { message: string; code: number } } }
  if (response.allowed) return ''
  expect(response.status?.code).toBe(422)
  return response.status?.message ?? ''
}

describe('valid annotations', () => {
  test.each<Annotations>([
    {},
    { other: 'x' },
    { [`${SEED}ttl`]: '1h30m' },
    { [`${SEED}ttl`]: 'forever', [`${SEED}propagation`]: 'orphan' },
    { [`${SEED}ttl`]: '2d', [`${SEED}extended-at`]: '2026-06-11T20:48:11Z' },
    { [`${NEWER}expires`]: '2026-06-11', [`${NEWER}lease-start`]: '2026-06-11T20:48:11+02:00' },
    { [`${SEED}ttl`]: '1h', [`${SEED}on-delete-job`]: 'scripts/clean.sh', [`${SEED}job-wait`]: 'true' },
    // Status annotations are not checked.
    { [`${SEED}ttl`]: '1h', [`${SEED}lease-status`]: 'Invalid TTL: it was.', [`${SEED}expire-at`]: 'whenever' },
  ])('the annotations %j are accepted', async (annotations) => {
    expect(await refusal(annotations)).toBe('')
    expect(await refusal(annotations, { before: {} })).toBe('')
  })

  test('an object without annotations is accepted', async () => {
    expect(await refusal(undefined)).toBe('')
  })
})

describe('invalid annotations', () => {
  test.each<[Annotations, string]>([
    [{ [`${SEED}ttl`]: '1h30' }, `${SEED}ttl: 30 has no unit`],
    [{ [`${SEED}ttl`]: '1M' }, 'a capital M'],
    [{ [`${NEWER}ttl`]: '300y' }, `${NEWER}ttl: "300y" is longer than 290 years`],
    [{ [`${SEED}expires`]: 'tomorrow' }, `${SEED}expires: "tomorrow" is not a time`],
    [{ [`${SEED}ttl`]: '1h', [`${SEED}extended-at`]: 'noon' }, `${SEED}extended-at: "noon" is not an RFC 3339 time`],
    [{ [`${NEWER}ttl`]: '1h', [`${NEWER}lease-start`]: '5' }, `${NEWER}lease-start: "5" is not an RFC 3339 time`],
    [{ [`${SEED}ttl`]: '1h', [`${SEED}expires`]: '2026-01-01' }, 'both ttl and expires are set'],
    [{ [`${SEED}expires`]: '9999-12-31T23:59:59.5Z' }, `${SEED}expires: the lease would end after the year 9999`],
    [
      { [`${SEED}ttl`]: '290y', [`${SEED}extended-at`]: '9900-01-01T00:00:00Z' },
      `${SEED}ttl: the lease would end after the year 9999`,
    ],
    [{ [`${SEED}ttl`]: '1h', [`${SEED}propagation`]: 'Sideways' }, 'none of Background, Foreground, Orphan'],
    [{ [`${SEED}ttl`]: '1h', [`${SEED}on-delete-job`]: 'scripts' }, 'on-delete-job must be <configmap>/<script-key>'],
    [{ [`${SEED}on-delete-job`]: 'a/b', [`${SEED}job-timeout`]: '5' }, 'job-timeout: 5 has no unit'],
  ])('the annotations %j are refused', async (annotations, message) => {
    expect(await refusal(annotations)).toContain(message)
    expect(await refusal(annotations, { before: {} })).toContain(message)
  })

  test('a refusal lists all problems', async () => {
    const message = await refusal({ [`${SEED}ttl`]: 'x', [`${SEED}propagation`]: 'y' })
    expect(message).toContain(`${SEED}ttl:`)
    expect(message).toContain(`${SEED}propagation:`)
  })

  test('existing problems are accepted, new ones are refused', async () => {
    const old = { [`${SEED}ttl`]: 'soon' }
    expect(await refusal({ ...old, note: 'x' }, { before: old })).toBe('')
    expect(await refusal({ [`${SEED}ttl`]: 'later' }, { before: old })).toContain(`${SEED}ttl`)
    // A part of what contradicts itself is new.
    const dated = { [`${SEED}expires`]: '2026-01-01' }
    expect(await refusal({ ...dated, [`${SEED}ttl`]: '1h' }, { before: dated })).toContain('both')
    expect(await refusal(dated, { before: { ...dated, [`${SEED}ttl`]: '1h' } })).toBe('')
  })

  test('a job on a cluster-scoped object is refused', async () => {
    const job = { [`${SEED}on-delete-job`]: 'a/b' }
    expect(await refusal(job)).toBe('')
    expect(await refusal(job, { namespaced: false })).toContain('this kind has none')
  })
})

test('the webhook is called only for lease annotations and does not block writes', () => {
  const webhook = leaseAnnotationsWebhook()
  expect(webhook).toMatchObject({
    failurePolicy: 'Ignore',
    rules: [{ apiGroups: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] }],
  })
  expect(webhook.matchConditions[0]?.expression).toBe(
    'has(object.metadata.annotations) && object.metadata.annotations.exists(name, ' +
      'name.startsWith("object-lease-controller.ullberg.us/") || name.startsWith("object-lease-controller.ullberg.io/"))',
  )
})
