import type { KubeObject } from '@tenure/kube'
import { describe, expect, it } from 'vitest'
import { define, KINDS } from '../registry/catalog.testing.ts'
import { AdmissionHarness, configMap, patch, refusal, rule, webhook } from './admission.testing.ts'
import type { Json } from './admission.testing.ts'

const add = (key: string, value: string): Json => ({ op: 'add', path: `/data/${key}`, value })
const dataOf = (object: unknown): Json => (object as { readonly data: Json }).data

describe('what admission looks at', () => {
  it('is nothing without configurations, and follows them', async () => {
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

  it('is never a configuration of admission', async () => {
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

  it('ends with close', async () => {
    const harness = await start()
    expect(harness.admission.concerns('CREATE', KINDS.configMap, '')).toBe(false)
    harness.admission.close()
    expect(harness.caller.isClosed).toBe(true)
    await harness.configure('validating', 'one', [webhook('one')])
    expect(harness.admission.concerns('CREATE', KINDS.configMap, '')).toBe(false)
  })
})

describe('mutating webhooks', () => {
  it('are called by the name of their configuration and their place in it, each seeing what the others did', async () => {
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

  it('leave the object as it is if they change nothing', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one'), webhook('two')])
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    harness.caller.handlers.set('/two', () => patch({ op: 'replace', path: '/data/a', value: '1' }))
    const object = configMap()
    expect(await harness.mutate({ object })).toBe(object)
  })

  it('are called again, once, if they want that and something changed after them', async () => {
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

  it('come after the plugins of the server, which see what they changed', async () => {
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

  it('refuse as they say', async () => {
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

  // As kube-apiserver 1.36 words it.
  it.each<[Json, string]>([
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
    ).map(([operation, message]): [Json, string] => [patch(operation), `Internal error occurred: ${message}`]),
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
  ])('whose patch is no good fail: %#', async (response, message) => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => response)
    const error = await refusal(harness.mutate())
    expect(error).toMatchObject({ code: 500, reason: 'InternalError', message })
    expect(error.details?.causes).toEqual([{ message: message.slice('Internal error occurred: '.length) }])
  })

  it('may not move what is created', async () => {
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

  it('may not change what is deleted', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch(add('a', 'b')))
    const error = await refusal(harness.mutate({ operation: 'DELETE', object: undefined, oldObject: configMap() }))
    expect(error.message).toBe(
      'Internal error occurred: admission webhook "one.example.dev" attempted to modify the object, which is not supported for this operation',
    )
  })

  it('can not reach the prototype of anything', async () => {
    const harness = await start()
    await harness.configure('mutating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch({ op: 'add', path: '/data/__proto__', value: 'x' }))
    const object = await harness.mutate()
    expect(Object.getPrototypeOf(dataOf(object))).toBe(Object.prototype)
    expect(Object.hasOwn(dataOf(object), '__proto__')).toBe(true)
  })
})

describe('validating webhooks', () => {
  it('are asked all at once; the first that refuses is told, and all warn', async () => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one'), webhook('two'), webhook('three')])
    const all = Promise.withResolvers<void>()
    for (const name of ['one', 'two', 'three']) {
      harness.caller.handlers.set(`/${name}`, async () => {
        // Nobody answers before all were asked.
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

  it('may not patch', async () => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one')])
    harness.caller.handlers.set('/one', () => patch(add('a', 'b')))
    expect((await refusal(harness.validate())).message).toBe(
      'Internal error occurred: failed calling webhook "one.example.dev": received invalid webhook response: validating webhook may not return response.patch',
    )
  })
})

describe('a dry run', () => {
  it.each(['Some', 'Unknown'])('is refused by a webhook with side effects: %s', async (sideEffects) => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one', { sideEffects, failurePolicy: 'Ignore' })])
    expect(await refusal(harness.validate({ dryRun: true }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'admission webhook "one.example.dev" does not support dry run',
    })
    expect(harness.caller.posts).toEqual([])
  })

  it('is told to one without', async () => {
    const harness = await start()
    await harness.configure('validating', 'a', [webhook('one', { sideEffects: 'NoneOnDryRun' })])
    harness.caller.handlers.set('/one', () => ({ allowed: true }))
    await harness.validate({ dryRun: true })
    expect(harness.caller.requests).toMatchObject([{ dryRun: true }])
  })
})

const start = (): Promise<AdmissionHarness> => AdmissionHarness.open()
