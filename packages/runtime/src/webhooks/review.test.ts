import { sleep, TenureError } from '@tenure/kube'
import { settle, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import type { Facts, Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { AdmissionRequest } from './admission.ts'
import { handleReview } from './review.ts'
import { operationsIn, responseIn, reviewOf, Website, websiteOf } from './review.testing.ts'
import { allow, changed, deny, patched, type AdmissionResult } from './admission-result.ts'
import { mutating, type Mutation, validating, type Webhook } from './webhook.ts'

const about = { name: 'websites.example.dev', kind: Website, failurePolicy: 'Fail' } as const

const checking = (
  validate: (request: AdmissionRequest<Website>) => AdmissionResult<never> | Promise<AdmissionResult<never>>,
): Webhook => validating({ ...about, validate })
const changing = (mutate: (request: AdmissionRequest<Website>) => Mutation<Website>): Webhook =>
  mutating({ ...about, mutate })

function recording(): Logger & { readonly lines: { level: string; message: string; facts: Facts | undefined }[] } {
  const lines: { level: string; message: string; facts: Facts | undefined }[] = []
  const at = (level: string) => (message: string, facts?: Facts) => void lines.push({ level, message, facts })
  return { ...silentLogger, error: at('error'), warn: at('warn'), info: at('info'), lines }
}

describe('a validating webhook', () => {
  test('an allowed request carries warnings, audit annotations and the uid', async () => {
    const webhook = checking(() => allow({ warnings: ['spec.host is old'], auditAnnotations: { host: 'a.dev' } }))
    expect(await handleReview(webhook, JSON.stringify(reviewOf()))).toEqual({
      status: 200,
      body: {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: {
          uid: 'u-1',
          allowed: true,
          warnings: ['spec.host is old'],
          auditAnnotations: { host: 'a.dev' },
        },
      },
    })
  })

  test('a denied request has a message and is forbidden by default', async () => {
    const plain = responseIn(
      await handleReview(
        checking(() => deny('no host')),
        reviewOf(),
      ),
    )
    expect(plain).toEqual({
      uid: 'u-1',
      allowed: false,
      status: { code: 403, message: 'no host', reason: 'Forbidden' },
    })
    const precise = checking(() => deny('no host', { code: 422, reason: 'Invalid', warnings: ['w'] }))
    expect(responseIn(await handleReview(precise, reviewOf()))).toMatchObject({
      status: { code: 422, reason: 'Invalid' },
      warnings: ['w'],
    })
  })

  test('a validating webhook that changes the object fails', async () => {
    const response = responseIn(
      await handleReview(
        checking(() => patched([])),
        reviewOf(),
      ),
    )
    expect(response.status?.message).toContain('cannot change an object')
  })

  test('the handler sees the user, the operation and dryRun', async () => {
    const seen: AdmissionRequest<Website>[] = []
    const webhook = checking((request) => (seen.push(request), allow()))
    await handleReview(webhook, reviewOf({ dryRun: true }))
    const oldObject = websiteOf({ host: 'old.dev' })
    await handleReview(webhook, reviewOf({ operation: 'DELETE', object: null, oldObject, dryRun: undefined }))
    expect(seen[0]).toMatchObject({ operation: 'CREATE', dryRun: true, userInfo: { username: 'jane' } })
    expect(seen[0]).not.toHaveProperty('oldObject')
    expect(seen[1]).toMatchObject({ operation: 'DELETE', dryRun: false, oldObject: { spec: { host: 'old.dev' } } })
    expect(seen[1]).not.toHaveProperty('object')
  })
})

describe('a mutating webhook', () => {
  test('a changed object becomes a patch', async () => {
    const webhook = changing(({ object }) => ({
      ...object,
      metadata: { ...object?.metadata, labels: { 'app.dev/x~y': '1' } },
      spec: { ...object?.spec, replicas: null },
    }))
    const response = responseIn(await handleReview(webhook, reviewOf()))
    expect(response).toMatchObject({ allowed: true, patchType: 'JSONPatch' })
    expect(operationsIn(response)).toEqual([
      { op: 'add', path: '/metadata/labels', value: { 'app.dev/x~y': '1' } },
      { op: 'replace', path: '/spec/replicas', value: null },
    ])
  })

  test('an unchanged object needs no patch', async () => {
    const same = responseIn(
      await handleReview(
        changing(({ object }) => ({ ...object })),
        reviewOf(),
      ),
    )
    expect(same).toEqual({ uid: 'u-1', allowed: true })
    expect(
      responseIn(
        await handleReview(
          changing(() => []),
          reviewOf(),
        ),
      ),
    ).toEqual({ uid: 'u-1', allowed: true })
  })

  test('a handler may return operations or a result', async () => {
    const operations = [{ op: 'remove', path: '/spec/host' }] as const
    const byHand = responseIn(
      await handleReview(
        changing(() => operations),
        reviewOf(),
      ),
    )
    expect(operationsIn(byHand)).toEqual(operations)
    const remarked = responseIn(
      await handleReview(
        changing(() => patched(operations, { warnings: ['w'] })),
        reviewOf(),
      ),
    )
    expect(operationsIn(remarked)).toEqual(operations)
    expect(remarked.warnings).toEqual(['w'])
    const object = responseIn(
      await handleReview(
        changing(() => changed(websiteOf({}), { warnings: ['v'] })),
        reviewOf(),
      ),
    )
    expect(operationsIn(object)).toHaveLength(2)
    expect(object.warnings).toEqual(['v'])
    expect(
      responseIn(
        await handleReview(
          changing(() => deny('no')),
          reviewOf(),
        ),
      ).allowed,
    ).toBe(false)
  })

  test('a mutation in place fails', async () => {
    const log = recording()
    const webhook = changing(({ object }) => {
      Object.assign(object?.spec ?? {}, { host: 'b.dev' })
      return object ?? []
    })
    const response = responseIn(await handleReview(webhook, reviewOf(), { log }))
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(String(log.lines[0]?.facts?.['error'])).toContain('read only')
  })

  test('a deleted object cannot be changed', async () => {
    const review = reviewOf({ operation: 'DELETE', object: null, oldObject: websiteOf({}) })
    const response = responseIn(
      await handleReview(
        changing(() => websiteOf({})),
        review,
      ),
    )
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } })
    expect(response.status?.message).toContain('a DELETE request has no object to change')
  })
})

const failing = (error: Error, failurePolicy: 'Fail' | 'Ignore'): Webhook =>
  validating({
    ...about,
    failurePolicy,
    validate: async () => {
      await settle()
      throw error
    },
  })

describe('a handler that fails', () => {
  test('the Fail policy denies the request, and only the log has the reason', async () => {
    const log = recording()
    const error = new Error('password is hunter2')
    const response = responseIn(await handleReview(failing(error, 'Fail'), reviewOf(), { log }))
    expect(response).toMatchObject({ uid: 'u-1', allowed: false, status: { code: 500, reason: 'InternalError' } })
    expect(response.status?.message).not.toContain('hunter2')
    expect(log.lines).toEqual([
      { level: 'error', message: 'admission handler failed', facts: expect.objectContaining({ error, uid: 'u-1' }) },
    ])
  })

  test('the Ignore policy answers 500, so that the API server admits the request', async () => {
    const response = await handleReview(failing(new Error('x'), 'Ignore'), reviewOf())
    expect(response).toMatchObject({ status: 500, body: { kind: 'Status', reason: 'InternalError' } })
  })

  test('the message of a TenureError reaches the client', async () => {
    const error = new TenureError('TENURE_X', 'The registry is away: try again in a minute.')
    const response = responseIn(await handleReview(failing(error, 'Fail'), reviewOf()))
    expect(response.status?.message).toContain('The registry is away: try again in a minute.')
  })

  test('a handler may throw synchronously, and any value', async () => {
    const webhook = checking(() => {
      throw new TypeError('at once')
    })
    expect(responseIn(await handleReview(webhook, reviewOf())).status?.code).toBe(500)
  })

  test('the handler times out before the API server does, and its signal aborts', async () => {
    const clock = new VirtualClock()
    let reason: unknown
    const webhook = validating({
      ...about,
      validate: async (_, { signal }) => {
        await sleep(clock, 60_000, signal).catch((error: unknown) => (reason = error))
        return allow()
      },
    })
    const response = handleReview(webhook, reviewOf(), { clock, timeout: 2000 })
    await clock.advance(1799)
    expect(reason).toBeUndefined()
    await clock.advance(1)
    expect(responseIn(await response)).toMatchObject({ allowed: false, status: { code: 504, reason: 'Timeout' } })
    expect(reason).toMatchObject({ code: 'TENURE_WEBHOOK_TIMEOUT', fate: 'retry' })
    expect(clock.pending).toBe(0)
  })

  test('timeoutSeconds is the default timeout, even for a handler that ignores its signal', async () => {
    const clock = new VirtualClock()
    const webhook = validating({
      ...about,
      failurePolicy: 'Ignore',
      timeoutSeconds: 5,
      validate: () => new Promise(() => {}),
    })
    let status = 0
    void handleReview(webhook, reviewOf(), { clock }).then((response) => (status = response.status))
    await clock.advance(4749)
    expect(status).toBe(0)
    await clock.advance(1)
    expect(status).toBe(504)
  })

  test('a caller that disconnects aborts the handler and is not logged as an error', async () => {
    const caller = new AbortController()
    const log = recording()
    const webhook = validating({ ...about, validate: () => new Promise(() => {}) })
    const response = handleReview(webhook, reviewOf(), { signal: caller.signal, log, clock: new VirtualClock() })
    await settle()
    caller.abort(new Error('gone'))
    await response
    expect(log.lines.map((line) => line.level)).toEqual(['info'])
  })
})

describe('a malformed review', () => {
  const { request, ...headless } = reviewOf()
  test.each([
    ['invalid JSON', '{"kind":', 'not JSON'],
    ['an empty body', '', 'not JSON'],
    ['no object', '[1]', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['another kind', { ...reviewOf(), kind: 'Pod' }, 'kind is "Pod"'],
    ['the beta version', { ...reviewOf(), apiVersion: 'admission.k8s.io/v1beta1' }, 'expected admission.k8s.io/v1'],
    ['no version', { kind: 'AdmissionReview', request }, 'apiVersion is missing'],
    ['no request', headless, 'no request'],
    ['no uid', reviewOf({ uid: undefined }), 'no uid'],
    ['an empty uid', reviewOf({ uid: '' }), 'no uid'],
    ['no operation', reviewOf({ operation: undefined }), 'operation is missing'],
    ['an unknown operation', reviewOf({ operation: 'PATCH' }), 'operation is "PATCH"'],
    ['an inherited operation', reviewOf({ operation: 'toString' }), 'operation is "toString"'],
    ['no resource', reviewOf({ resource: null }), 'no resource'],
    ['no object on CREATE', reviewOf({ object: null }), 'CREATE request has no object'],
    ['no old object on UPDATE', reviewOf({ operation: 'UPDATE' }), 'UPDATE request has no oldObject'],
    ['no old object on DELETE', reviewOf({ operation: 'DELETE' }), 'DELETE request has no oldObject'],
  ])('a review with %s gets 400 and the reason', async (_, review, message) => {
    const response = await handleReview(
      checking(() => allow()),
      review,
    )
    expect(response).toMatchObject({ status: 400, body: { kind: 'Status', reason: 'BadRequest', code: 400 } })
    expect((response.body as { message: string }).message).toContain(message)
  })
})

const declare = (more: object) => (): Webhook => validating({ ...about, validate: () => allow(), ...more })

describe('a declaration', () => {
  test('a declaration has the path of controller-runtime and rules from its kind', () => {
    const webhook = checking(() => allow())
    expect(webhook.path).toBe('/validate-example-dev-v1-website')
    expect(changing(() => []).path).toBe('/mutate-example-dev-v1-website')
    expect(webhook.rules).toEqual([
      {
        apiGroups: ['example.dev'],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['websites'],
        scope: 'Namespaced',
      },
    ])
  })

  test('declarations that the API server would reject are rejected', () => {
    expect(declare({ name: 'websites' })).toThrow('at least three parts')
    expect(declare({ name: 'Web.example.dev' })).toThrow('lower-case')
    expect(declare({ timeoutSeconds: 31 })).toThrow('from 1 to 30')
    expect(declare({ timeoutSeconds: 0 })).toThrow('from 1 to 30')
    expect(declare({ path: 'validate' })).toThrow('not a path')
    expect(declare({ path: '/a?b' })).toThrow('not a path')
  })
})
