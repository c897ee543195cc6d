import type { KubeObject } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { define, KINDS } from '../registry/testing/catalog.ts'
import { AdmissionHarness, configMap, patch, refusal, rule, webhook } from './admission.testing.ts'
import type { JsonObject } from '@tenure/kube/model'

const add = (key: string, value: string): JsonObject => ({ op: 'add', path: `/data/${key}`, value })
const dataOf = (object: unknown): JsonObject => (object as { readonly data: JsonObject }).data

describe('concerns', () => {
  test('a write concerns admission only while a matching configuration is stored', async () => {
    const harness = await start()
    const { admission } = harness
    const isConcerned = (): boolean => admission.concerns('CREATE', KINDS.configMap, '')
    expect(isConcerned()).toBe(false)
    await harness.configure('validating', 'one', [webhook('one')])
    expect(isConcerned()).toBe(true)
    expect(admission.concerns('CREATE', KINDS.configMap, 'status')).toBe(false)
    expect(admission.concerns('CREATE', KINDS.pod, '')).toBe(false)
    await harness.storage.write('validatingwebhookconfigurations.admissionregistration.k8s.io', 'one', () => ({
      remove: true,
    }))
    expect(isConcerned()).toBe(false)
  })

  test('webhook configurations are exempt from webhooks', async () => {
    const harness = await start()
    const kind = 'ValidatingWebhookConfiguration'
    const definition = define({ group: 'admissionregistration.k8s.io', kind, namespaced: false })
    await harness.configure('mutating', 'all', [webhook('all', { rules: [rule('*/*'), rule('*')] })])
    await harness.configure('validating', 'all', [webhook('all', { rules: [rule('*/*'), rule('*')] })])
    expect(harness.admission.concerns('UPDATE', definition, '')).toBe(false)
    await harness.mutate({ definition })
    await harness.validate({ definition })
    expect(harness.caller.posts).toEqual([])
  })

  test('closing ends the watch of configurations and closes the caller', async () => {
    const harness = await start()
    expect(harness.admission.concerns('CREATE', KINDS.configMap, '')).toBe(false)
    harness.admission.close()
    expect(harness.caller.isClosed).toBe(true)
    await harness.configure('validating', 'one', [webhook('one')])
    expect(harness.admission.concerns('CREATE', KINDS.configMap, '')).toBe(false)
  })
})

describe('mutating webhooks', () => {
  test('mutating webhooks run by configuration name, then position, and each receives the changes of the previous ones', async () => {
    const harness = await start()
    const { handlers } = harness.caller
    await harness.configure('mutating', 'b', [webhook('three')])
    await harness.configure('mutating', 'a', [webhook('one'), webhook('two')])
    handlers.set('/one', () => patch(add('one', 'x')))
    handlers.set('/two', () => ({ allowed: true, warnings: ['be careful', 'split\nline'] }))
    handlers.set('/three', ({ object }) => patch(add('three', Object.keys(dataOf(object)).join())))
    const object = await harness.mutate()
    expect(dataOf(object)).toEqual({ a: '1', one: 'x', three: 'a,one' })
    expect(harness.caller.paths).toEqual(['/one', '/two', '/three'])
    expect(harness.warnings).toEqual(['be careful'])
  })

  test('a webhook that changes nothing leaves the object identical', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one'), webhook('two')])
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    harness.caller.handlers.set('/two', () => patch({ op: 'replace', path: '/data/a', value: '1' }))
    const object = configMap()
    expect(await harness.mutate({ object })).toBe(object)
  })

  test('a webhook with reinvocationPolicy IfNeeded is called once more if the object changes after its call', async () => {
    const harness = await start()
    const reinvocationPolicy = 'IfNeeded'
    await harness.configure('mutating', 'a', [
      webhook('never'),
      webhook('first', { reinvocationPolicy }),
      webhook('second', { reinvocationPolicy }),
      webhook('last', { reinvocationPolicy }),
    ])
    let round = 0
    harness.caller.handlers.set('/never', () => ({ allowed: true }))
    harness.caller.handlers.set('/first', () => ({ allowed: true }))
    harness.caller.handlers.set('/second', () => patch(add('second', String(++round))))
    harness.caller.handlers.set('/last', () => ({ allowed: true }))
    const object = await harness.mutate()
    expect(harness.caller.paths).toEqual(['/never', '/first', '/second', '/last', '/first'])
    expect(dataOf(object)).toEqual({ a: '1', second: '1' })
  })

  test('built-in plugins run before webhooks and again after a change', async () => {
    const seen: unknown[] = []
    const harness = await AdmissionHarness.open({
      builtIn: {
        mutate: async ({ object }) => {
          seen.push(dataOf(object))
          return { ...object, data: { ...dataOf(object), builtIn: 'yes' } } as KubeObject
        },
        validate: async () => undefined,
      },
    })
    expect(harness.admission.concerns('CREATE', KINDS.pod, '')).toBe(true)
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', ({ object }) => patch(add('saw', String(dataOf(object)['builtIn']))))
    expect(dataOf(await harness.mutate())).toEqual({ a: '1', builtIn: 'yes', saw: 'yes' })
    expect(seen).toEqual([{ a: '1' }, { a: '1', builtIn: 'yes', saw: 'yes' }])
  })

  test('a denial keeps the code, reason, message and details of the webhook', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    const status = { code: 409, reason: 'Conflict', message: 'not today', details: { name: 'a' } }
    harness.caller.handlers.set('/one', () => ({ allowed: false, status }))
    expect(await refusal(harness.mutate())).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'admission webhook "one.example.dev" denied the request: not today',
      details: { name: 'a' },
    })
  })

  // Messages of kube-apiserver 1.36.
  test.each<[JsonObject, string]>([
    ...(
      [
        [
          { op: 'replace', path: '/no/at', value: 1 },
          'replace operation does not apply: doc is missing path: /no/at: missing value',
        ],
        [
          { op: 'add', path: '/no/at', value: 1 },
          'add operation does not apply: doc is missing path: "/no/at": missing value',
        ],
        [
          { op: 'remove', path: '/data/z' },
          "error in remove for path: '/data/z': Unable to remove nonexistent key: z: missing value",
        ],
        [
          { op: 'remove', path: '/no/z' },
          'remove operation does not apply: doc is missing path: "/no/z": missing value',
        ],
        [{ op: 'test', path: '/data/a', value: 'no' }, 'testing value /data/a failed: test failed'],
        [
          { op: 'move', from: '/data/z', path: '/data/a' },
          "error in move for path: 'z': Unable to remove nonexistent key: z: missing value",
        ],
        [{ op: 'odd', path: '/data/z' }, 'Unexpected kind: odd'],
      ] as const
    ).map(([operation, message]): [JsonObject, string] => [patch(operation), `Internal error occurred: ${message}`]),
    [
      patch({ op: 'add', path: '/data/a', value: { not: 'text' } }),
      'Internal error occurred: json: cannot unmarshal object into Go struct field ConfigMap.data of type string',
    ],
    [
      { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{').toString('base64') },
      'Internal error occurred: failed calling webhook "one.example.dev": received undecodable patch in webhook response: unexpected end of JSON input',
    ],
    [
      { allowed: true, patchType: 'MergePatch', patch: Buffer.from('[{"op":"test"}]').toString('base64') },
      'Internal error occurred: failed calling webhook "one.example.dev": unsupported patch type "MergePatch"',
    ],
    [
      { allowed: true, patch: 'W10=' },
      'Internal error occurred: failed calling webhook "one.example.dev": received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
  ])('an invalid patch fails the request: %#', async (response, message) => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => response)
    const error = await refusal(harness.mutate())
    expect(error).toMatchObject({ code: 500, reason: 'InternalError', message })
    expect(error.details?.causes).toEqual([{ message: message.slice('Internal error occurred: '.length) }])
  })

  test('a webhook must not change the name or namespace of a created object', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch({ op: 'add', path: '/metadata/name', value: 'b' }))
    expect((await refusal(harness.mutate())).message).toBe(
      'Internal error occurred: admission webhook "one.example.dev" attempted to rename the object, which is not supported',
    )
    harness.caller.handlers.set('/one', () => patch({ op: 'remove', path: '/metadata/namespace' }))
    expect(await refusal(harness.mutate())).toMatchObject({
      code: 400,
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    })
  })

  test('a webhook must not patch a deleted object', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch(add('a', 'b')))
    const error = await refusal(harness.mutate({ operation: 'DELETE', object: undefined, oldObject: configMap() }))
    expect(error.message).toBe(
      'Internal error occurred: admission webhook "one.example.dev" attempted to modify the object, which is not supported for this operation',
    )
  })

  test('a patch of __proto__ sets an own property', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch({ op: 'add', path: '/data/__proto__', value: 'x' }))
    const object = await harness.mutate()
    expect(Object.getPrototypeOf(dataOf(object))).toBe(Object.prototype)
    expect(Object.hasOwn(dataOf(object), '__proto__')).toBe(true)
  })
})

describe('validating webhooks', () => {
  test('validating webhooks run concurrently, the first denial in order is reported, and all warnings are kept', async () => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one'), webhook('two'), webhook('three')])
    const all = Promise.withResolvers<void>()
    for (const name of ['one', 'two', 'three']) {
      harness.caller.handlers.set(`/${name}`, async () => {
        // No webhook responds before all are called.
        if (harness.caller.posts.length === 3) all.resolve()
        await all.promise
        return { allowed: name === 'one', warnings: [`from ${name}`] }
      })
    }
    expect(await refusal(harness.validate())).toMatchObject({
      code: 400,
      reason: '',
      message: 'admission webhook "two.example.dev" denied the request without explanation',
    })
    expect(harness.warnings.toSorted()).toEqual(['from one', 'from three', 'from two'])
  })

  test('a validating webhook must not return a patch', async () => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch(add('a', 'b')))
    expect((await refusal(harness.validate())).message).toBe(
      'Internal error occurred: failed calling webhook "one.example.dev": received invalid webhook response: validating webhook may not return response.patch',
    )
  })
})

describe('a dry run', () => {
  test.each(['Some', 'Unknown'])('a dry run is refused if a webhook has side effects: %s', async (sideEffects) => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one', { sideEffects, failurePolicy: 'Ignore' })])
    expect(await refusal(harness.validate({ dryRun: true }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'admission webhook "one.example.dev" does not support dry run',
    })
    expect(harness.caller.posts).toEqual([])
  })

  test('a webhook without side effects receives dryRun', async () => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one', { sideEffects: 'NoneOnDryRun' })])
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    await harness.validate({ dryRun: true })
    expect(harness.caller.requests).toMatchObject([{ dryRun: true }])
  })
})

const start = (): Promise<AdmissionHarness> => AdmissionHarness.open()
