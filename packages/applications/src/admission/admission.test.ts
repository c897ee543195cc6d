import { ConnectionError, type TransportResponse } from '@tenure/kube'
import { SelfSubjectReview } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { createMetrics } from '@tenure/runtime'
import { handleReview, type Webhook } from '@tenure/runtime/webhooks'
import { refuse, TestControlPlane } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { applicationDefinition } from '../api/crd.ts'
import { FINALIZER, LABELS } from '../api/index.ts'
import { ApplicationMetrics } from '../metrics.ts'
import { applications } from '../operator.ts'
import { ApplicationAdmission, type ApplicationAdmissionOptions } from './admission.ts'
import { applied, type Added } from '../testing/json-patch.ts'
import { runSetup, type RunSetupOptions } from '../testing/run-setup.ts'

const username = 'system:serviceaccount:elide-system:elide-operator'

let clock: VirtualClock
let stops: (() => Promise<void>)[]

beforeEach(() => {
  clock = new VirtualClock()
  stops = []
})

afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
})

/** Runs parts of the operator on a server that answers SelfSubjectReviews so. */
async function run<R>(
  whoAmI: () => TransportResponse,
  options: Pick<RunSetupOptions, 'metrics' | 'settings'>,
  setup: Parameters<typeof runSetup<R>>[1],
): Promise<R> {
  const server = await TestControlPlane.start({ clock, crds: [applicationDefinition] })
  server.intercept((request) => (request.plural === SelfSubjectReview.plural ? whoAmI() : undefined))
  stops.push(() => server.stop())
  const { result, stop } = await runSetup({ server, random: seededRandom(5), ...options }, setup)
  stops.push(stop)
  await clock.advance(1_000)
  return result
}

type Options = Omit<ApplicationAdmissionOptions, 'metrics'>

async function start(whoAmI: () => TransportResponse, options: Options = {}) {
  const metrics = await createMetrics({ processMetrics: false })
  return run(whoAmI, { metrics }, (context) => {
    const measured = new ApplicationMetrics(context)
    const admission = new ApplicationAdmission(context, { metrics: measured, ...options })
    /** Another admission in the same process. */
    const another = (more: Options) => new ApplicationAdmission(context, { metrics: measured, ...more })
    return { components: [...measured.components, admission.component], result: { admission, another, metrics } }
  })
}

/** The server knows the user. */
function known(): TransportResponse {
  const text = JSON.stringify({ metadata: {}, status: { userInfo: { username } } })
  const body = {
    text: () => Promise.resolve(text),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(new TextEncoder().encode(text))
    },
  }
  return { status: 201, headers: { 'content-type': 'application/json' }, body }
}

function review(fieldManager: string, image = 'ubuntu', more: object = {}): unknown {
  const kind = { group: 'cloudnative.elide.dev', version: 'v1', kind: 'Application' }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind,
      resource: { group: kind.group, version: kind.version, resource: 'applications' },
      operation: 'CREATE',
      userInfo: { username },
      options: { fieldManager },
      object: { metadata: { name: 'a' }, spec: { replicas: 1, image } },
      ...more,
    },
  }
}

function webhook(admission: ApplicationAdmission, type: Webhook['type']): Webhook {
  const found = admission.webhooks.find((each) => each.type === type)
  if (!found) throw new Error(`there is no ${type} webhook`)
  return found
}

/** The patch for the creation of an Application with these fields. */
type PatchOf = (fields: object, more?: object, namespace?: string) => Promise<readonly Added[]>

async function startPatching(): Promise<PatchOf> {
  const { another } = await start(known)
  return (fields, more, namespace) => patchBy(another({ namespace }), fields, more)
}

async function patchBy(admission: ApplicationAdmission, fields: object, more: object = {}): Promise<readonly Added[]> {
  const object = { spec: { replicas: 1, image: 'nginx:1', strategy: 'Recreate' }, ...fields }
  const mutating = webhook(admission, 'mutating')
  const { status, body } = await handleReview(mutating, review('kubectl', '', { object, ...more }), { clock })
  const { response } = body as { readonly response: { readonly allowed: boolean; readonly patch?: string } }
  expect([status, response.allowed]).toEqual([200, true])
  return JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString() || '[]') as readonly Added[]
}

const ofFinalizers = (patch: readonly Added[]): readonly Added[] =>
  patch.filter(({ path }) => path.startsWith('/metadata/finalizers'))

const allowed = (value: boolean): object => ({ status: 200, body: { response: { uid: 'u', allowed: value } } })

test('the webhooks are declared as the contract says', async () => {
  const { admission, another } = await start(known)
  const { webhooks } = admission
  expect(webhooks).toMatchObject([
    { type: 'validating', path: '/validate', failurePolicy: 'Fail' },
    { type: 'mutating', path: '/mutate', failurePolicy: 'Fail' },
  ])
  for (const each of webhooks) {
    expect(each).toMatchObject({
      name: 'applications.cloudnative.elide.dev',
      sideEffects: 'None',
      matchConditions: [{ name: 'reviewed-fields-change', expression: expect.stringContaining('object.spec') }],
      rules: [
        {
          apiGroups: ['cloudnative.elide.dev'],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['applications'],
        },
      ],
    })
  }
  expect(another({ failurePolicy: 'Ignore' }).webhooks[0]?.failurePolicy).toBe('Ignore')
})

test("the policy exempts the operator's own writes by user name and field manager", async () => {
  const { admission } = await start(known)
  expect(admission.validate(review('elide-operator'))).toMatchObject(allowed(true))
  expect(admission.validate(review('kubectl-create'))).toMatchObject(allowed(false))
  const validating = webhook(admission, 'validating')
  expect(await handleReview(validating, review('elide-operator'), { clock })).toMatchObject(allowed(true))
  expect(await handleReview(validating, review('kubectl-create'), { clock })).toMatchObject({
    status: 200,
    body: {
      response: {
        allowed: false,
        status: {
          code: 403,
          message: "Base image 'ubuntu' is not allowed. Use distroless or specific application images.",
        },
      },
    },
  })
})

test('no write is exempt if the policy covers the HTTP API or the own user name is unknown', async () => {
  const strict = await start(known, { policyOnRest: true })
  expect(strict.admission.validate(review('elide-operator'))).toMatchObject(allowed(false))
  const nameless = await start(() => refuse(404, 'NotFound'))
  expect(nameless.admission.validate(review('elide-operator'))).toMatchObject(allowed(false))
})

test('the lookup of the own user name is retried until the server answers', async () => {
  let failures = 3
  const { admission } = await start(() => {
    if (failures-- > 0) throw new ConnectionError('TENURE_TEST_DOWN', 'Down.')
    return known()
  })
  expect(admission.validate(review('elide-operator'))).toMatchObject(allowed(false))
  await clock.advance(60_000)
  expect(admission.validate(review('elide-operator'))).toMatchObject(allowed(true))
})

test('a created Application gets the finalizer once', async () => {
  const patchOf = await startPatching()
  for (const fields of [
    {},
    { metadata: null },
    { metadata: { name: 'a' } },
    { metadata: { name: 'a', finalizers: null } },
    { metadata: { name: 'a', finalizers: [] } },
    { metadata: { name: 'a', finalizers: ['b/c'], labels: { d: 'e' } } },
  ]) {
    const before = (fields.metadata as { readonly finalizers?: readonly string[] } | undefined)?.finalizers ?? []
    const after = applied(fields, await patchOf(fields)) as { readonly metadata: object }
    expect(after).toMatchObject({ metadata: { finalizers: [...before, FINALIZER] } })
    expect(await patchOf(after)).toEqual([])
    expect(await patchOf(fields, { dryRun: true })).toEqual(await patchOf(fields))
  }
  const finalizers = ['b/c']
  expect(ofFinalizers(await patchOf({ metadata: { finalizers } }))).toEqual([
    { op: 'add', path: '/metadata/finalizers/-', value: FINALIZER },
  ])
})

test('an Application is labelled as its children are, unless it has that label', async () => {
  const patchOf = await startPatching()
  const labelsAfter = async (metadata: object, more: object = {}): Promise<unknown> => {
    const fields = { metadata }
    const after = applied(fields, await patchOf(fields, more)) as { readonly metadata: { readonly labels?: unknown } }
    return after.metadata.labels
  }
  const managed = { [LABELS.managedBy]: 'elide-operator' }
  const own = { ...managed, [LABELS.instance]: 'a' }
  expect(await labelsAfter({ name: 'a' })).toEqual(own)
  expect(await labelsAfter({ name: 'a', labels: null })).toEqual(own)
  expect(await labelsAfter({ name: 'a', labels: { d: 'e' } })).toEqual({ ...own, d: 'e' })
  const update = { operation: 'UPDATE', oldObject: { metadata: { name: 'a' } } }
  expect(await labelsAfter({ name: 'a', labels: { d: 'e' } }, update)).toEqual({ ...own, d: 'e' })
  const release = { [LABELS.instance]: 'my-release' }
  expect(await labelsAfter({ name: 'a', labels: release })).toEqual({ ...managed, ...release })
  expect(await labelsAfter({ generateName: 'a-' })).toEqual(managed)
  expect(await labelsAfter({ name: 'a', labels: 7 })).toBe(7)
})

test('an update, a deleted object and malformed finalizers get no finalizer', async () => {
  const patchOf = await startPatching()
  const metadata = { name: 'a' }
  const bare = { metadata, spec: { replicas: 1, image: 'nginx:1' } }
  const update = { operation: 'UPDATE', oldObject: { ...bare, metadata: { ...metadata, finalizers: [FINALIZER] } } }
  // An update removes it.
  expect(ofFinalizers(await patchOf(bare, update))).toEqual([])
  expect(ofFinalizers(await patchOf({ metadata: { ...metadata, finalizers: 'x' } }))).toEqual([])
  expect(await patchOf({ metadata: [] })).toEqual([])
  expect(await patchOf({ metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })).toEqual([])
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment' }
  expect(await patchOf(bare, { kind })).toEqual([])
})

test('an Application of a namespace that is not watched gets no finalizer', async () => {
  const patchOf = await startPatching()
  const fields = { metadata: { name: 'a' } }
  const isHeld = async (served: string | undefined, namespace: string | undefined): Promise<boolean> => {
    const patch = await patchOf(fields, { namespace }, served)
    // Defaults apply in every namespace.
    expect(patch.map(({ path }) => path)).toEqual(expect.arrayContaining(['/metadata/labels', '/metadata/annotations']))
    return ofFinalizers(patch).length > 0
  }
  expect(await isHeld(undefined, 'default')).toBe(true)
  expect(await isHeld('default', 'default')).toBe(true)
  expect(await isHeld('default', 'other')).toBe(false)
  expect(await isHeld('default', undefined)).toBe(false)
  // The namespace of the request counts, not that of the object.
  const lying = { metadata: { name: 'a', namespace: 'default' } }
  expect(ofFinalizers(await patchOf(lying, { namespace: 'other' }, 'default'))).toEqual([])
})

test('the webhook uses the namespace of the operator', async () => {
  const { webhooks } = await run(known, { settings: { namespace: 'default' } }, (context) => {
    const parts = applications.setup(context)
    return { ...parts, result: parts }
  })
  const mutating = webhooks?.find(({ type }) => type === 'mutating')
  if (!mutating) throw new Error('there is no mutating webhook')
  const patches = ['default', 'other'].map(async (namespace) => {
    const { body } = await handleReview(mutating, review('kubectl', 'nginx:1', { namespace }), { clock })
    const { response } = body as { readonly response: { readonly patch: string } }
    return Buffer.from(response.patch, 'base64').toString().includes(FINALIZER)
  })
  expect(await Promise.all(patches)).toEqual([true, false])
})

test('the webhooks and posted reviews get equal answers but for label and finalizer, and both are counted', async () => {
  const { admission, metrics } = await start(known)
  const metadata = { name: 'a', finalizers: [FINALIZER], labels: { [LABELS.instance]: 'a' } }
  const finalized = { metadata, spec: { replicas: 1, image: 'nginx:1' } }
  const posted = review('kubectl', '', { object: finalized })
  const mutating = await handleReview(webhook(admission, 'mutating'), posted, { clock })
  expect(mutating).toEqual(admission.mutate(posted))
  const validating = await handleReview(webhook(admission, 'validating'), review('kubectl', 'nginx'), { clock })
  expect(validating).toEqual(admission.validate(review('kubectl', 'nginx')))
  admission.validate(review('kubectl', 'ubuntu'))
  admission.validate({})
  const { text } = await metrics.expose()
  for (const line of [
    'webhook_requests_total{webhook="mutate",operation="CREATE",allowed="true"} 2',
    'webhook_requests_total{webhook="validate",operation="CREATE",allowed="true"} 2',
    'webhook_requests_total{webhook="validate",operation="CREATE",allowed="false"} 1',
    'webhook_requests_total{webhook="validate",operation="INVALID",allowed="false"} 1',
    'webhook_duration_seconds_count{webhook="validate"} 4',
  ]) {
    expect(text).toContain(`${line}\n`)
  }
})
