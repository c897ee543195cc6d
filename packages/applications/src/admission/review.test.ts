import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultImagePolicy } from './image-policy.ts'
import { applied, type Added } from '../testing/json-patch.ts'
import { reviewMutate, reviewValidate } from './review.ts'
import type { AdmissionRules } from './validate.ts'

const rules: AdmissionRules = { policy: defaultImagePolicy }
const operator = { username: 'system:serviceaccount:elide-system:elide-operator', fieldManager: 'elide-operator' }
const spec = { replicas: 3, image: 'nginx:1.21', resources: { limits: { cpu: '1' } } }

interface Response {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: { readonly code: number; readonly message: string }
  readonly warnings?: readonly string[]
  readonly patchType?: string
  readonly patch?: string
}

function reviewOf(request: object): unknown {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'test-123', ...request } }
}

function responseOf(answer: { readonly status: number; readonly body: unknown }): Response {
  expect(answer.status).toBe(200)
  const { response, ...rest } = answer.body as { readonly response: Response }
  expect(rest).toEqual({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })
  expect(response.uid).toBe('test-123')
  return response
}

const validate = (request: object, more: Partial<AdmissionRules> = {}): Response =>
  responseOf(reviewValidate(reviewOf(request), { ...rules, ...more }))
const create = (changes: object): Response =>
  validate({ operation: 'CREATE', object: { metadata: { name: 'a' }, spec: { ...spec, ...changes } } })
const update = (image: string, oldImage: string | undefined, more: object = {}): Response =>
  validate({
    operation: 'UPDATE',
    object: { metadata: {}, spec: { ...spec, image }, ...more },
    ...(oldImage !== undefined && { oldObject: { metadata: {}, spec: { ...spec, image: oldImage } } }),
  })
/** A request of a user to run ubuntu. */
const by = (username: string, fieldManager: string): object => ({
  operation: 'CREATE',
  userInfo: { username },
  options: { fieldManager },
  object: { spec: { ...spec, image: 'ubuntu' } },
})
const denial = (message: string): object => ({ allowed: false, status: { code: 403, message } })

describe('validate', () => {
  test.each([
    [{ replicas: -1 }, 'replicas must be >= 0'],
    [{ replicas: 101 }, 'replicas must be <= 100 (use HPA for higher scale)'],
    [{ replicas: 'three' }, 'replicas must be an integer'],
    [{ image: undefined }, 'image is required'],
    [{ image: null }, 'image is required'],
    [{ image: '' }, 'image is required'],
    [{ image: ' \t\n' }, 'image is required'],
    [{ image: 7 }, 'image must be a string'],
    [{ image: 'quay.io/a/b:1' }, 'Images must be from gcr.io or docker.io registries'],
    [
      { image: 'docker.io/library/ubuntu:22.04' },
      "Base image 'ubuntu' is not allowed. Use distroless or specific application images.",
    ],
  ])('a review of %o is denied', (changes, message) => {
    const { uid: _, ...response } = create(changes)
    expect(response).toMatchObject(denial(message))
    expect(response).not.toHaveProperty('warnings')
  })

  test('an allowed review carries warnings', () => {
    expect(create({})).toEqual({ uid: 'test-123', allowed: true })
    expect(create({ replicas: undefined })).toMatchObject({ allowed: true })
    expect(create({ image: 'nginx:latest', resources: undefined })).toEqual({
      uid: 'test-123',
      allowed: true,
      warnings: [
        'Resource limits are recommended for production workloads',
        'Using :latest tag is not recommended for production',
      ],
    })
    expect(create({ image: 'nginx' }).warnings).toEqual(['Using :latest tag is not recommended for production'])
    expect(create({ resources: { limits: {} } }).warnings).toHaveLength(1)
  })

  test('an object without a spec is denied for its missing image', () => {
    expect(validate({ operation: 'CREATE', object: {} })).toMatchObject(denial('image is required'))
  })

  test('an update is checked only for the values that change', () => {
    const refused = denial("Base image 'ubuntu' is not allowed. Use distroless or specific application images.")
    expect(update('ubuntu', 'nginx:1')).toMatchObject(refused)
    expect(update('ubuntu:24.04', 'ubuntu:22.04')).toMatchObject(refused)
    expect(update('ubuntu', undefined)).toMatchObject(refused)
    expect(update('ubuntu:22.04', 'ubuntu:22.04')).toEqual({ uid: 'test-123', allowed: true })
    expect(update('nginx:2', 'ubuntu')).toMatchObject({ allowed: true })
    const going = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect(update('ubuntu', 'nginx:1', going)).toEqual({ uid: 'test-123', allowed: true })
  })

  test('an update may keep replicas above the maximum', () => {
    const oldObject = { spec: { ...spec, replicas: 500 } }
    const object = { spec: { ...spec, replicas: 501 } }
    expect(validate({ operation: 'UPDATE', object: oldObject, oldObject })).toMatchObject({ allowed: true })
    expect(validate({ operation: 'UPDATE', object, oldObject })).toMatchObject({ allowed: false })
  })

  test("only the operator's own writes are exempt from the policy, unless it covers the HTTP API", () => {
    const own = by(operator.username, operator.fieldManager)
    expect(validate(own, { operator })).toMatchObject({ allowed: true })
    expect(validate(own, { operator, policyOnRest: true })).toMatchObject({ allowed: false })
    expect(validate(own)).toMatchObject({ allowed: false })
    expect(validate(by(operator.username, 'kubectl-create'), { operator })).toMatchObject({ allowed: false })
    expect(validate(by('another-user', operator.fieldManager), { operator })).toMatchObject({ allowed: false })
    const empty = { ...own, object: { spec: { replicas: 1 } } }
    expect(validate(empty, { operator })).toMatchObject(denial('image is required'))
  })

  test('deletes, connections and other kinds are allowed', () => {
    const bad = { spec: { image: 'ubuntu' } }
    for (const request of [
      { operation: 'DELETE', oldObject: bad },
      { operation: 'CONNECT', object: bad },
      { operation: 'CREATE', object: bad, kind: { group: 'apps', version: 'v1', kind: 'Deployment' } },
    ]) {
      expect(validate(request)).toEqual({ uid: 'test-123', allowed: true })
      expect(responseOf(reviewMutate(reviewOf(request)))).toEqual({ uid: 'test-123', allowed: true })
    }
  })
})

function patchOf(object: unknown, operation = 'CREATE'): readonly Added[] {
  const response = responseOf(reviewMutate(reviewOf({ operation, object })))
  expect(response.allowed).toBe(true)
  if (response.patch === undefined) return []
  expect(response.patchType).toBe('JSONPatch')
  return JSON.parse(Buffer.from(response.patch, 'base64').toString()) as readonly Added[]
}

describe('mutate', () => {
  const label = { 'app.kubernetes.io/managed-by': 'elide-operator' }
  const annotation = { 'elide.dev/webhook-mutated': 'true' }

  test.each([
    [{ spec }],
    [{ metadata: {}, spec }],
    [{ metadata: { labels: null, annotations: null }, spec: { ...spec, strategy: null } }],
    [{ metadata: { labels: { a: 'b' }, annotations: { 'c/d': 'e~f' } }, spec }],
    [{ metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }, spec }],
  ])('the patch of %o adds the defaults, and a second review adds nothing', (object) => {
    const after = applied(object, patchOf(object)) as typeof object
    expect(after).toMatchObject({
      metadata: { labels: label, annotations: annotation },
      spec: { strategy: 'RollingUpdate' },
    })
    expect(patchOf(after)).toEqual([])
    expect(patchOf(after, 'UPDATE')).toEqual([])
  })

  test('existing values are kept', () => {
    const object = { metadata: { name: 'a', labels: { a: 'b' } }, spec: { ...spec, strategy: 'Recreate' } }
    expect(patchOf(object)).toEqual([
      { op: 'add', path: '/metadata/labels/app.kubernetes.io~1managed-by', value: 'elide-operator' },
      { op: 'add', path: '/metadata/annotations', value: annotation },
    ])
  })

  test('a posted review adds no finalizer', () => {
    const paths = [{ spec }, { metadata: { name: 'a', finalizers: [] }, spec }].flatMap((object) =>
      patchOf(object).map(({ path }) => path),
    )
    expect(paths.filter((path) => path.includes('finalizers'))).toEqual([])
  })

  test('a deleted object and fields of a wrong type are not patched', () => {
    expect(patchOf({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, spec }, 'UPDATE')).toEqual([])
    expect(patchOf({ metadata: [], spec: 'x' })).toEqual([])
    expect(patchOf({ metadata: { labels: 'x', annotations: [] } })).toEqual([])
  })
})

describe('malformed reviews', () => {
  test.each([
    [undefined, 'the body is not a JSON object'],
    ['x', 'the body is not a JSON object'],
    [[], 'the body is not a JSON object'],
    [{}, 'it has no request'],
    [{ kind: 'AdmissionReview', request: null }, 'it has no request'],
    [{ kind: 'Review', request: {} }, 'its kind is not AdmissionReview'],
    [{ apiVersion: 'admission.k8s.io/v1beta1', request: {} }, 'its apiVersion is not admission.k8s.io/v1'],
    [{ request: { operation: 'CREATE', object: {} } }, 'its request has no uid'],
    [{ request: { uid: '', operation: 'CREATE', object: {} } }, 'its request has no uid'],
    [{ request: { uid: 'a', object: {} } }, 'the operation of its request is none of CREATE, UPDATE, DELETE, CONNECT'],
    [{ request: { uid: 'a', operation: 'CREATE' } }, 'its CREATE request has no object'],
    [{ request: { uid: 'a', operation: 'CREATE', object: null } }, 'its CREATE request has no object'],
    [{ request: { uid: 'a', operation: 'UPDATE', object: [] } }, 'its UPDATE request has no object'],
  ])('%j is answered with 400', (review, reason) => {
    const answer = { status: 400, body: { error: `This is not an AdmissionReview that can be answered: ${reason}` } }
    expect(reviewValidate(review, rules)).toMatchObject(answer)
    expect(reviewMutate(review)).toMatchObject(answer)
  })

  test('a review needs no more than a request with uid, operation and object', () => {
    const review = { request: { uid: 'u', operation: 'CREATE', object: { spec } } }
    expect(reviewValidate(review, rules)).toMatchObject({
      status: 200,
      body: { response: { uid: 'u', allowed: true } },
    })
  })

  test('any JSON gets an answer', () => {
    const request = fc.record(
      {
        uid: fc.oneof(fc.string(), fc.jsonValue()),
        operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'NONE'),
        object: fc.oneof(fc.jsonValue(), fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue() })),
        oldObject: fc.jsonValue(),
        userInfo: fc.jsonValue(),
        options: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ request })), (review) => {
        expect([200, 400]).toContain(reviewValidate(review, { ...rules, operator }).status)
        expect([200, 400]).toContain(reviewMutate(review).status)
      }),
      { numRuns: 500 },
    )
  })
})
