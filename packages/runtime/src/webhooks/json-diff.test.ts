import type { JsonPatchOperation } from '@tenure/kube'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isDeepEqual } from '@tenure/kube/model'
import { diffJson } from './json-diff.ts'

/** Applies the three RFC 6902 operations that a diff uses, as strictly as the RFC demands. */
function patched(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let root = structuredClone(document)
  for (const operation of operations) {
    const keys = operation.path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop()
    if (last === undefined) {
      if (operation.op !== 'replace') throw new Error(`${operation.op} of the whole document`)
      root = structuredClone(operation.value)
      continue
    }
    const parent = keys.reduce<unknown>(child, root)
    const value = 'value' in operation ? structuredClone(operation.value) : undefined
    if (operation.op !== 'add') child(parent, last)
    if (Array.isArray(parent)) {
      if (operation.op === 'add' && Number(last) > parent.length) throw new Error('added past the end')
      parent.splice(Number(last), operation.op === 'add' ? 0 : 1, ...(operation.op === 'remove' ? [] : [value]))
    } else if (operation.op === 'remove') {
      Reflect.deleteProperty(parent as object, last)
    } else {
      Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
    }
  }
  return root
}

function child(parent: unknown, key: string): unknown {
  const inside = Object.getOwnPropertyDescriptor(parent, key)
  if (!inside) throw new Error(`there is no ${key}`)
  return inside.value
}

const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Few keys and values, so that two documents share much; keys that need escaping; null. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, 1, '', 'a', 'b'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a/b', '~', '~1', '', '0', '__proto__'), tie('value'), { maxKeys: 5 }),
  ),
})).value

describe('diffJson', () => {
  test('the operations turn one document into the other', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const operations = wire(diffJson(before, after)) as readonly JsonPatchOperation[]
        expect(isDeepEqual(patched(wire(before), operations), wire(after))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('the diff is empty exactly if nothing changed', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(diffJson(before, structuredClone(before))).toEqual([])
        expect(diffJson(before, after).length === 0).toBe(isDeepEqual(before, after))
      }),
    )
  })

  test('null differs from missing', () => {
    expect(diffJson({ a: null }, {})).toEqual([{ op: 'remove', path: '/a' }])
    expect(diffJson({}, { a: null })).toEqual([{ op: 'add', path: '/a', value: null }])
    expect(diffJson({ a: 1 }, { a: null })).toEqual([{ op: 'replace', path: '/a', value: null }])
    expect(diffJson({ a: 1 }, { a: undefined })).toEqual([{ op: 'remove', path: '/a' }])
    expect(diffJson({ a: undefined }, {})).toEqual([])
    expect(diffJson({}, { a: undefined })).toEqual([])
  })

  test('keys are escaped', () => {
    expect(diffJson({ labels: {} }, { labels: { 'app.dev/a~b': 'x' } })).toEqual([
      { op: 'add', path: '/labels/app.dev~1a~0b', value: 'x' },
    ])
  })

  test('an insertion or removal inside an array does not rewrite the rest', () => {
    expect(diffJson([1, 2, 3], [1, 9, 2, 3])).toEqual([{ op: 'add', path: '/1', value: 9 }])
    expect(diffJson([1, 2, 3, 4], [1, 4])).toEqual([
      { op: 'remove', path: '/2' },
      { op: 'remove', path: '/1' },
    ])
    expect(diffJson([{ name: 'a' }, { name: 'b' }], [{ name: 'a' }, { name: 'b', image: 'x' }])).toEqual([
      { op: 'add', path: '/1/image', value: 'x' },
    ])
  })

  test('inherited properties are ignored', () => {
    expect(diffJson({}, JSON.parse('{"toString": 1, "__proto__": {"a": 1}}'))).toEqual([
      { op: 'add', path: '/toString', value: 1 },
      { op: 'add', path: '/__proto__', value: { a: 1 } },
    ])
  })
})
