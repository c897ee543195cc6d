import { describe, expect, test } from 'vitest'
import { AdmissionHarness, patch, refusal, webhook } from '../../admission.testing.ts'
import type { JsonObject } from '@tenure/kube/model'

const FAILED = 'Internal error occurred: failed calling webhook "one.example.dev": '
const POST = 'failed to call webhook: Post "https://127.0.0.1:9443/one?timeout=10s": '

async function start(brief: JsonObject = {}): Promise<AdmissionHarness> {
  const harness = await AdmissionHarness.open()
  await harness.configure('validating', 'a', [webhook('one', brief)])
  await harness.configure('mutating', 'a', [webhook('one', brief)])
  return harness
}

describe('an unreachable webhook', () => {
  test('the failurePolicy decides whether an unreachable webhook refuses the request', async () => {
    const harness = await start()
    expect(await refusal(harness.validate())).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: `${FAILED}${POST}dial tcp 127.0.0.1:9443: connect: connection refused`,
    })
    const lenient = await start({ failurePolicy: 'Ignore' })
    await lenient.validate()
    const { object } = lenient.attributes()
    expect(await lenient.mutate()).toEqual(object)
    expect(lenient.caller.posts).toHaveLength(2)
  })

  test('a call is aborted after timeoutSeconds', async () => {
    const harness = await start({ timeoutSeconds: 3 })
    const signals: AbortSignal[] = []
    harness.caller.handlers.set('/one', (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => undefined)
    })
    const outcome = refusal(harness.validate())
    await harness.clock.advance(2999)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await harness.clock.advance(1)
    expect((await outcome).message).toBe(
      `${FAILED}failed to call webhook: Post "https://127.0.0.1:9443/one?timeout=3s": context deadline exceeded`,
    )
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(harness.clock.pending).toBe(0)
  })

  test('a response cancels the timer', async () => {
    const harness = await start()
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    await harness.validate()
    expect(harness.clock.pending).toBe(0)
  })
})

const cannotUnmarshal = (what: string): string =>
  String.raw`couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`

// Messages of kube-apiserver 1.36.
describe('an invalid response', () => {
  test.each<[JsonObject, string]>([
    [{ body: '{}' }, 'received invalid webhook response: webhook response was absent'],
    [{ body: '<html>' }, `failed to call webhook: ${cannotUnmarshal('string')}`],
    [{ body: '[]' }, `failed to call webhook: ${cannotUnmarshal('array')}`],
    [
      { allowed: 'yes' },
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [{ allowed: true, patch: '***' }, 'failed to call webhook: illegal base64 data at input byte 0'],
    [{ status: 404, body: 'no such page' }, 'failed to call webhook: the server could not find the requested resource'],
    [
      { status: 500, contentType: 'text/plain', body: 'oh "no"\n' },
      String.raw`failed to call webhook: an error on the server ("oh \"no\"") has prevented the request from succeeding`,
    ],
    [
      { status: 500, body: JSON.stringify({ kind: 'Status', status: 'Failure', message: 'told' }) },
      'failed to call webhook: told',
    ],
  ])('the response %j fails the call', async (response, message) => {
    const harness = await start()
    harness.caller.handlers.set('/one', () => response)
    expect((await refusal(harness.validate())).message).toBe(FAILED + message)
  })

  test('a response with another uid or kind is invalid', async () => {
    const harness = await start()
    harness.caller.handlers.set('/one', () => ({ uid: 'other', allowed: true }))
    expect((await refusal(harness.validate())).message).toMatch(
      /received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"$/,
    )
    harness.caller.handlers.set('/one', ({ uid }) => ({ body: JSON.stringify({ response: { uid, allowed: true } }) }))
    expect((await refusal(harness.validate())).message).toBe(
      `${FAILED}received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`,
    )
  })
})

describe('the review version', () => {
  test('the first supported version is sent, and v1beta1 responses are read leniently', async () => {
    const harness = await start({ admissionReviewVersions: ['v9', 'v1beta1', 'v1'] })
    const { patch: text } = patch({ op: 'add', path: '/data/b', value: '2' })
    harness.caller.handlers.set('/one', () => ({ body: JSON.stringify({ response: { allowed: true, patch: text } }) }))
    expect(await harness.mutate()).toMatchObject({ data: { a: '1', b: '2' } })
    expect(JSON.parse(harness.caller.posts[0]?.body ?? '')).toMatchObject({ apiVersion: 'admission.k8s.io/v1beta1' })
  })

  test('a webhook without a supported version fails', async () => {
    const harness = await start({ admissionReviewVersions: ['v9'] })
    expect((await refusal(harness.validate())).message).toBe(
      `${FAILED}could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)`,
    )
  })
})

describe('the address of a webhook', () => {
  const service = { namespace: 'tools', name: 'hooks', port: 443, path: '/one' }

  test('a Service is reachable only if its type is ExternalName', async () => {
    const harness = await start({ clientConfig: { service } })
    const post = 'failed to call webhook: Post "https://hooks.tools.svc:443/one?timeout=10s": '
    expect((await refusal(harness.validate())).message).toBe(`${FAILED}${post}service "hooks" not found`)
    await harness.store('services', 'tools/hooks', { spec: { type: 'ClusterIP', clusterIP: '10.0.0.1' } })
    expect((await refusal(harness.validate())).message).toContain(
      'service "tools/hooks" has no network in the embedded control plane: set clientConfig.url instead',
    )
    await harness.store('services', 'tools/hooks', { spec: { type: 'ExternalName', externalName: 'localhost' } })
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    await harness.validate()
    expect(harness.caller.posts).toMatchObject([{ address: { host: 'localhost', port: 443 } }])
    expect(harness.caller.posts[0]?.url.hostname).toBe('hooks.tools.svc')
  })

  test('a given resolver decides the address of a Service', async () => {
    const harness = await AdmissionHarness.open({
      resolveService: async ({ port }) => ({ host: '::1', port: port + 1 }),
    })
    await harness.configure('validating', 'a', [webhook('one', { clientConfig: { service } })])
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    await harness.validate()
    expect(harness.caller.posts).toMatchObject([{ address: { host: '::1', port: 444 } }])
  })

  test('an unreadable caBundle fails the call', async () => {
    const caBundle = Buffer.from('nothing').toString('base64')
    const harness = await start({ clientConfig: { url: 'https://127.0.0.1:9443/one', caBundle } })
    expect((await refusal(harness.validate())).message).toBe(
      `${FAILED}could not get REST client: unable to load root certificates: unable to parse bytes as PEM block`,
    )
    expect(harness.caller.posts).toEqual([])
  })
})
