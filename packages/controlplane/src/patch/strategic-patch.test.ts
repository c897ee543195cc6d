import type { KubeObject } from '@tenure/kube'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { StatusError } from '../errors.ts'
import { builtInSchema, resolveBuiltIn } from '../schema/openapi/builtin.ts'
import type { Schema } from '../schema/types.ts'
import { applyStrategicPatch } from './strategic-patch.ts'

function schemaOf(group: string, version: string, kind: string): Schema {
  const schema = builtInSchema(group, version, kind)
  if (!schema) throw new Error(`no schema for ${kind}`)
  return schema
}

const POD = schemaOf('', 'v1', 'Pod')
const CONFIG_MAP = schemaOf('', 'v1', 'ConfigMap')

const apply = (schema: Schema, object: unknown, patch: unknown): unknown =>
  applyStrategicPatch(object as KubeObject, patch, schema, resolveBuiltIn)

/** The spec of a Pod after the patch. */
const podSpec = (spec: unknown, patch: unknown): unknown =>
  (apply(POD, { kind: 'Pod', spec }, { spec: patch }) as { readonly spec: unknown }).spec

const named = (...names: readonly string[]) => names.map((name) => ({ name }))

describe('applyStrategicPatch', () => {
  test('list items merge by key, and new items go where the patch has them', () => {
    const spec = { containers: [{ name: 'a', image: '1', ports: [{ containerPort: 1 }] }, { name: 'b' }] }
    const patch = { containers: [{ name: 'n' }, { name: 'a', image: '2' }] }
    expect(podSpec(spec, patch)).toEqual({
      containers: [{ name: 'n' }, { name: 'a', image: '2', ports: [{ containerPort: 1 }] }, { name: 'b' }],
    })
  })

  test.each([
    ['an element to the front', ['a', 'b', 'c'], ['c'], ['c', 'a', 'b'], ['c', 'a', 'b']],
    ['a server-only element before its successor', ['x', 'a', 'y', 'b'], ['b', 'a'], [], ['x', 'y', 'b', 'a']],
    ['a server-only element after its predecessor', ['a', 'x', 'b'], ['a', 'b', 'n'], ['n'], ['a', 'x', 'b', 'n']],
    ['elements that do not change', ['a', 'b'], ['b', 'a'], [], ['b', 'a']],
  ])('$setElementOrder places %s', (_name, live, order, patched, result) => {
    const patch = { '$setElementOrder/containers': named(...order), containers: named(...patched) }
    if (order.length === 1) patch['$setElementOrder/containers'] = named('c', 'a', 'b')
    expect(podSpec({ containers: named(...live) }, patch)).toEqual({ containers: named(...result) })
  })

  test('directives delete, replace and clear', () => {
    const spec = {
      containers: named('a', 'b'),
      volumes: named('v', 'w'),
      nodeSelector: { a: '1', b: '2' },
      tolerations: [1],
    }
    expect(
      podSpec(spec, {
        containers: [{ name: 'a', $patch: 'delete' }],
        volumes: [{ name: 'z' }, { $patch: 'replace' }],
        nodeSelector: { $patch: 'replace', c: '3' },
        tolerations: [{ key: 'k' }],
        securityContext: { $patch: 'delete' },
      }),
    ).toEqual({ containers: named('b'), volumes: named('z'), nodeSelector: { c: '3' }, tolerations: [{ key: 'k' }] })
  })

  test('$retainKeys keeps only the keys it names', () => {
    const spec = { volumes: [{ name: 'v', emptyDir: { medium: 'x' } }] }
    const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] }
    expect(podSpec(spec, patch)).toEqual({ volumes: [{ name: 'v', configMap: { name: 'c' } }] })
  })

  test('lists of primitives merge and lose elements', () => {
    const object = { metadata: { finalizers: ['a', 'b', 'c'] } }
    expect(apply(CONFIG_MAP, object, { metadata: { finalizers: ['d', 'b'] } })).toEqual({
      metadata: { finalizers: ['d', 'a', 'b', 'c'] },
    })
    const gone = { metadata: { '$deleteFromPrimitiveList/finalizers': ['b', 'z'] } }
    expect(apply(CONFIG_MAP, object, gone)).toEqual({ metadata: { finalizers: ['a', 'c'] } })
    const both = {
      metadata: {
        '$setElementOrder/finalizers': ['d', 'a'],
        '$deleteFromPrimitiveList/finalizers': ['b'],
        finalizers: ['d'],
      },
    }
    expect(apply(CONFIG_MAP, object, both)).toEqual({ metadata: { finalizers: ['d', 'a', 'c'] } })
  })

  test('null removes, and new values contain neither nulls nor directives', () => {
    const patch = {
      data: { a: null, n: null },
      metadata: { annotations: { x: null, y: '1', $patch: 'merge' }, labels: { b: null } },
    }
    expect(apply(CONFIG_MAP, { data: { a: '1', b: '2' }, metadata: {} }, patch)).toEqual({
      data: { b: '2' },
      metadata: { labels: {} },
    })
  })

  test('a null patch changes nothing', () => {
    const object = { kind: 'ConfigMap' }
    expect(apply(CONFIG_MAP, object, null)).toBe(object)
  })

  // The messages are those of kube-apiserver.
  test.each([
    [CONFIG_MAP, {}, [], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [CONFIG_MAP, { data: {} }, { data: { $patch: 'foo' } }, 500, 'unknown patch type: foo in map: map[$patch:foo]'],
    [
      CONFIG_MAP,
      { metadata: { finalizers: ['a.b/c'] } },
      { metadata: { finalizers: [{ a: 1 }] } },
      500,
      'list element types are not identical: [[a.b/c] [map[a:1]]]',
    ],
    [
      CONFIG_MAP,
      { metadata: {} },
      { metadata: { '$setElementOrder/finalizers': 'x' } },
      500,
      'expected a []interface {}, but received a string',
    ],
    [
      CONFIG_MAP,
      { metadata: { finalizers: ['a'] } },
      { metadata: { '$setElementOrder/finalizers': ['a.b/d'], finalizers: ['x.y/z'] } },
      500,
      "The order in patch list:\n[x.y/z]\n doesn't match $setElementOrder list:\n[a.b/d]\n",
    ],
    [CONFIG_MAP, { data: {} }, { data: { $retainKeys: ['x'], y: '1' } }, 400, 'invalid patch format of retainKeys'],
    [CONFIG_MAP, { data: {} }, { data: { $retainKeys: 'x' } }, 400, 'invalid patch format of retainKeys'],
    [CONFIG_MAP, {}, { $setElementOrder: [1] }, 400, 'invalid patch format of setElementOrder list'],
    [CONFIG_MAP, {}, { $deleteFromPrimitiveList: [1] }, 400, 'invalid patch format of primitive list'],
    [
      POD,
      { spec: { containers: named('a') } },
      { spec: { containers: [{ image: 'x' }] } },
      500,
      'map: map[image:x] does not contain declared merge key: name',
    ],
    [
      POD,
      { spec: { containers: named('a') } },
      { spec: { containers: [{ name: 'a', $patch: 'merge' }] } },
      500,
      'merging lists cannot yet be specified in the patch',
    ],
  ])('patch %# is refused with the message of kube-apiserver', (schema, object, patch, code, message) => {
    let thrown: unknown
    try {
      apply(schema, object, patch)
    } catch (error) {
      thrown = error
    }
    expect(thrown instanceof StatusError ? [thrown.code, thrown.message] : [0, '']).toEqual([code, message])
  })

  test('__proto__ is an ordinary key', () => {
    const patch = JSON.parse('{"data":{"__proto__":"1"},"metadata":{"annotations":{"__proto__":"2"}}}') as unknown
    const result = apply(CONFIG_MAP, { data: { a: '1' }, metadata: { annotations: {} } }, patch)
    expect(JSON.stringify(result)).toBe(
      '{"data":{"a":"1","__proto__":"1"},"metadata":{"annotations":{"__proto__":"2"}}}',
    )
  })

  test('the given object is never changed', () => {
    const object = { kind: 'Pod', spec: { containers: named('a', 'b'), nodeSelector: { x: '1' } } }
    const patch = {
      spec: {
        '$setElementOrder/containers': named('b', 'a'),
        containers: [{ name: 'b', $patch: 'delete' }],
        nodeSelector: { x: null },
      },
    }
    const before = JSON.stringify([object, patch])
    apply(POD, object, patch)
    expect(JSON.stringify([object, patch])).toBe(before)
  })

  test('a patch with a whole list of containers and its order produces that list', () => {
    const container = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), image: fc.constantFrom('1', '2') })
    const containers = fc.uniqueArray(container, { selector: ({ name }) => name })
    fc.assert(
      fc.property(containers, containers, (before, after) => {
        const gone = before.filter(({ name }) => !after.some((other) => other.name === name))
        const patch = {
          '$setElementOrder/containers': after.map(({ name }) => ({ name })),
          containers: [...after, ...gone.map(({ name }) => ({ name, $patch: 'delete' }))],
        }
        const result = podSpec({ containers: before }, before.length + after.length > 0 ? patch : {})
        expect(result).toEqual({ containers: after })
      }),
    )
  })

  test('a list of 60,000 items merges, loses items and is ordered by key, without comparing all with all', () => {
    const names = Array.from({ length: 60_000 }, (_, index) => `n${index}`)
    const before = names.map((name) => ({ name, image: '1' }))
    const merged = podSpec({ containers: before }, { containers: names.map((name) => ({ name, image: '2' })) })
    expect(merged).toEqual({ containers: names.map((name) => ({ name, image: '2' })) })
    const gone = names.slice(1).map((name) => ({ name, $patch: 'delete' }))
    expect(podSpec({ containers: before }, { containers: gone })).toEqual({ containers: before.slice(0, 1) })
    const order = { '$setElementOrder/containers': names.toReversed().map((name) => ({ name })) }
    expect(podSpec({ containers: before }, order)).toEqual({ containers: before.toReversed() })
  })
})
