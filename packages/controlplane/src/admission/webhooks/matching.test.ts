import type { KubeObject } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { define, KINDS } from '../../registry/testing/catalog.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import { AdmissionHarness, configMap, patch, refusal, rule, webhook } from '../admission.testing.ts'
import type { JsonObject } from '@tenure/kube/model'
import { ruleMatches } from './rules.ts'
import type { ConfiguredRule } from './webhook.ts'

describe('rules', () => {
  const { pod, deployment, namespace } = KINDS
  test.each<[JsonObject, ResourceDefinition, string, boolean]>([
    [rule('pods'), pod, '', true],
    [rule('pods'), pod, 'status', false],
    [rule('pods/status'), pod, 'status', true],
    [rule('pods/status'), pod, '', false],
    [rule('pods/*'), pod, 'status', true],
    // `pods/*` includes the pod itself.
    [rule('pods/*'), pod, '', true],
    [rule('*/status'), deployment, 'status', true],
    [rule('*'), deployment, '', true],
    [rule('*'), deployment, 'scale', false],
    [rule('*/*'), deployment, 'scale', true],
    [rule('deployments', { apiGroups: [''] }), deployment, '', false],
    [rule('deployments', { apiGroups: ['apps'], apiVersions: ['v1'] }), deployment, '', true],
    [rule('deployments', { apiVersions: ['v1beta1'] }), deployment, '', false],
    [rule('*', { operations: ['UPDATE', 'DELETE'] }), pod, '', false],
    [rule('*', { operations: ['CREATE'] }), pod, '', true],
    [rule('*', { scope: 'Namespaced' }), pod, '', true],
    [rule('*', { scope: 'Cluster' }), pod, '', false],
    [rule('*', { scope: 'Cluster' }), namespace, '', true],
    [rule('*', { scope: 'Namespaced' }), namespace, '', false],
  ])('the rule %j matches as in kube-apiserver: %#', (given, definition, subresource, expected) => {
    expect(ruleMatches(given as unknown as ConfiguredRule, 'CREATE', definition, subresource)).toBe(expected)
  })
})

/** True if the webhook is called for the write. */
async function isCalled(
  harness: AdmissionHarness,
  brief: JsonObject,
  attributes: Partial<AdmissionAttributes>,
): Promise<boolean> {
  await harness.configure('validating', 'a', [webhook('one', { rules: [rule('*')], ...brief })])
  harness.caller.handlers.set('/one', () => ({ allowed: true }))
  const before = harness.caller.posts.length
  await harness.validate(attributes)
  return harness.caller.posts.length > before
}

describe('selectors', () => {
  const inProduction = { namespaceSelector: { matchLabels: { stage: 'production' } } }
  const production = { metadata: { labels: { stage: 'production' } } }

  test('a namespaceSelector matches the labels of the namespace', async () => {
    const harness = await AdmissionHarness.open()
    await harness.store('namespaces', 'live', production)
    expect(await isCalled(harness, inProduction, { namespace: 'default' })).toBe(false)
    expect(await isCalled(harness, inProduction, { namespace: 'live' })).toBe(true)
    expect(await refusal(isCalled(harness, inProduction, { namespace: 'gone' }))).toMatchObject({
      code: 404,
      message: 'namespaces "gone" not found',
    })
    // Without a matching rule the namespace is not read.
    expect(await isCalled(harness, { ...inProduction, rules: [rule('pods')] }, { namespace: 'gone' })).toBe(false)
  })

  test('a namespaceSelector matches a Namespace by its own labels and other cluster-scoped kinds always', async () => {
    const harness = await AdmissionHarness.open()
    await harness.store('namespaces', 'live', production)
    const definition = KINDS.namespace
    const object = { ...production, kind: 'Namespace', apiVersion: 'v1' } as KubeObject
    expect(await isCalled(harness, inProduction, { definition, name: 'new', object })).toBe(true)
    const plain = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'live' } }
    const update = { definition, name: 'live', operation: 'UPDATE', object: plain, oldObject: object } as const
    expect(await isCalled(harness, inProduction, update)).toBe(false)
    const deletion = { definition, operation: 'DELETE', object: undefined, oldObject: object } as const
    expect(await isCalled(harness, inProduction, { ...deletion, name: 'live' })).toBe(true)
    expect(await isCalled(harness, inProduction, { ...deletion, name: 'default' })).toBe(false)
    expect(await isCalled(harness, inProduction, { definition: KINDS.clusterRole })).toBe(true)
  })

  test('an objectSelector matches the labels of the old or the new object', async () => {
    const harness = await AdmissionHarness.open()
    const chosen = { objectSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }
    const labelled = configMap({}, { app: 'web' })
    expect(await isCalled(harness, chosen, { object: configMap() })).toBe(false)
    expect(await isCalled(harness, chosen, { object: labelled })).toBe(true)
    const update = { operation: 'UPDATE', object: configMap(), oldObject: labelled } as const
    expect(await isCalled(harness, chosen, update)).toBe(true)
  })
})

function renamed(object: KubeObject, from: string, to: string, version: string): KubeObject {
  const { [from]: value, ...rest } = object as KubeObject & JsonObject
  return { ...rest, apiVersion: `example.dev/${version}`, [to]: value }
}

describe('matchPolicy', () => {
  const stored = define({ group: 'example.dev', kind: 'Widget', isBuiltIn: false, schema: { preserveUnknown: true } })
  const served: ResourceDefinition = {
    ...stored,
    version: 'v2',
    conversion: {
      toStored: (object) => renamed(object, 'dimension', 'size', 'v1'),
      fromStored: (object) => renamed(object, 'size', 'dimension', 'v2'),
    },
  }
  const v1Only = { rules: [rule('widgets', { apiVersions: ['v1'] })] }
  const widget = { kind: 'Widget', apiVersion: 'example.dev/v2', metadata: { name: 'a' }, dimension: 3 } as KubeObject

  test('Equivalent sends the object in the version of the rule and converts the patched object back', async () => {
    const harness = await AdmissionHarness.open({ definitions: [stored, served] })
    await harness.configure('mutating', 'a', [webhook('one', { ...v1Only, matchPolicy: 'Equivalent' })])
    harness.caller.handlers.set('/one', () => patch({ op: 'replace', path: '/size', value: 4 }))
    expect(harness.admission.concerns('CREATE', served, '')).toBe(true)
    expect(await harness.mutate({ definition: served, object: widget })).toEqual({ ...widget, dimension: 4 })
    expect(harness.caller.requests).toMatchObject([
      {
        kind: { group: 'example.dev', version: 'v1', kind: 'Widget' },
        resource: { group: 'example.dev', version: 'v1', resource: 'widgets' },
        requestKind: { group: 'example.dev', version: 'v2', kind: 'Widget' },
        requestResource: { group: 'example.dev', version: 'v2', resource: 'widgets' },
        object: { apiVersion: 'example.dev/v1', size: 3 },
      },
    ])
  })

  test('Exact ignores other versions', async () => {
    const harness = await AdmissionHarness.open({ definitions: [stored, served] })
    await harness.configure('mutating', 'a', [webhook('one', { ...v1Only, matchPolicy: 'Exact' })])
    expect(harness.admission.concerns('CREATE', served, '')).toBe(false)
    expect(await harness.mutate({ definition: served, object: widget })).toBe(widget)
  })
})

const condition = (expression: string): JsonObject => ({ matchConditions: [{ name: 'one', expression }] })

describe('match conditions', () => {
  test.each([
    ["object.metadata.name == 'a'", true],
    ["request.operation == 'DELETE'", false],
    ["request.userInfo.groups.exists(group, group == 'devs') && !request.dryRun", true],
    ["request.resource.group == '' && request.kind.kind == 'ConfigMap'", true],
    ["has(object.data.b) || object.data.a == '2'", false],
    ['oldObject == null', true],
    ["!('system:masters' in request.userInfo.groups)", true],
    ['size(object.data) > 1', false],
    ["request.options.kind == 'CreateOptions'", true],
    ["authorizer.group('').resource('pods').namespace('a').name('b').check('get').allowed()", false],
    ["!authorizer.serviceAccount('a', 'b').path('/metrics').check('get').allowed()", true],
  ])('the condition %s decides whether the webhook is called', async (expression, expected) => {
    expect(await isCalled(await AdmissionHarness.open(), condition(expression), {})).toBe(expected)
  })

  test('a condition that fails to evaluate refuses the request or skips the webhook', async () => {
    const harness = await AdmissionHarness.open()
    const expression = "object.metadata.labels.app == 'web'"
    expect(await refusal(isCalled(harness, condition(expression), {}))).toMatchObject({
      code: 403,
      message: `configmaps "a" is forbidden: expression '${expression}' resulted in error: no such key: labels`,
    })
    expect(await isCalled(harness, { ...condition(expression), failurePolicy: 'Ignore' }, {})).toBe(false)
    expect((await refusal(isCalled(harness, condition('nothing.at.all'), {}))).message).toContain(
      "undeclared reference to 'nothing'",
    )
    const twice = {
      matchConditions: [
        { name: 'a', expression },
        { name: 'b', expression: 'false' },
      ],
    }
    expect(await isCalled(harness, twice, {})).toBe(false)
  })
})

describe('a review', () => {
  test('a review contains the whole request', async () => {
    const harness = await AdmissionHarness.open()
    const oldObject = { ...configMap({ a: '0' }), metadata: { name: 'a', resourceVersion: '7' } }
    const object = { ...configMap(), metadata: { name: 'a', resourceVersion: '' } }
    const user = { name: 'jane', uid: 'u', groups: ['devs'], extra: { scope: ['a'] } }
    await isCalled(harness, {}, { operation: 'UPDATE', object, oldObject, user })
    const [post] = harness.caller.posts
    expect(post?.url.href).toBe('https://127.0.0.1:9443/one?timeout=10s')
    expect(JSON.parse(post?.body ?? '')).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
        requestResource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'a',
        namespace: 'default',
        operation: 'UPDATE',
        userInfo: { username: 'jane', uid: 'u', groups: ['devs'], extra: { scope: ['a'] } },
        object: { ...configMap(), metadata: { name: 'a', resourceVersion: '7' } },
        oldObject,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      },
    })
  })

  test('a review of the scale subresource contains a Scale, and its patched replicas are applied', async () => {
    const harness = await AdmissionHarness.open()
    await harness.configure('mutating', 'a', [webhook('one', { rules: [rule('deployments/scale')] })])
    harness.caller.handlers.set('/one', () => patch({ op: 'replace', path: '/spec/replicas', value: 2 }))
    const deployment = {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
      spec: { replicas: 5, selector: { matchLabels: { app: 'web' } } },
      status: { replicas: 1 },
    } as KubeObject
    const scaled = await harness.mutate({
      definition: KINDS.deployment,
      subresource: 'scale',
      operation: 'UPDATE',
      object: deployment,
      oldObject: deployment,
    })
    expect(scaled).toEqual({ ...deployment, spec: { replicas: 2, selector: { matchLabels: { app: 'web' } } } })
    expect(harness.caller.requests).toMatchObject([
      {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { group: 'apps', version: 'v1', resource: 'deployments' },
        subResource: 'scale',
        requestSubResource: 'scale',
        object: {
          kind: 'Scale',
          apiVersion: 'autoscaling/v1',
          metadata: { name: 'web', namespace: 'default' },
          spec: { replicas: 5 },
          status: { replicas: 1, selector: 'app=web' },
        },
      },
    ])
  })
})
