import { isJsonObject } from '@tenure/kube/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isList } from '../../patch/json.ts'
import { compare } from '../merge/compare.ts'
import { fieldSetOf } from './field-set.ts'
import type { FieldSet } from './fields.ts'
import {
  canonicalFields,
  difference,
  fieldsAt,
  fieldsEqual,
  intersection,
  isEmpty,
  isMember,
  LEAF,
  printedPaths,
  recursiveDifference,
  SELF,
  union,
} from './fields.ts'
import { compareText } from './path-element.ts'
import { structureOf } from './structure.ts'
import { thing } from '../testing/arbitrary.ts'
import { resolve, THING } from '../testing/recordings.ts'

const STRUCTURE = structureOf(THING, resolve)

const name = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:1', 'v:"1"', 'i:0')
const path = fc.array(name, { minLength: 1, maxLength: 4 })
const fields = fc.array(path, { maxLength: 8 }).map((paths) => fieldsAt(...paths))

/** The members of a set as paths. */
function members(set: FieldSet, prefix = ''): readonly string[] {
  return Object.keys(set)
    .filter((key) => key !== SELF)
    .flatMap((key) => {
      const node = set[key] ?? LEAF
      return [...(isMember(node) ? [prefix + key] : []), ...members(node, `${prefix}${key}|`)]
    })
}

const asSet = (set: FieldSet): ReadonlySet<string> => new Set(members(set))

describe('Fields', () => {
  test('union, difference and intersection act on the members', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        expect(asSet(union(a, b))).toEqual(asSet(a).union(asSet(b)))
        expect(asSet(difference(a, b))).toEqual(asSet(a).difference(asSet(b)))
        expect(asSet(intersection(a, b))).toEqual(asSet(a).intersection(asSet(b)))
      }),
    )
  })

  test('recursive difference removes everything below a member as well', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const gone = members(b)
        const isGone = (member: string): boolean => gone.some((at) => member === at || member.startsWith(`${at}|`))
        expect(members(recursiveDifference(a, b)).toSorted()).toEqual(
          members(a)
            .filter((member) => !isGone(member))
            .toSorted(),
        )
      }),
    )
  })

  test('an operation that changes nothing returns the identical set', () => {
    fc.assert(
      fc.property(fields, (a) => {
        expect(union(a, a)).toBe(a)
        expect(union(a, LEAF)).toBe(a)
        expect(difference(a, LEAF)).toBe(a)
        expect(isEmpty(difference(a, a))).toBe(true)
        expect(fieldsEqual(intersection(a, a), a)).toBe(true)
      }),
    )
  })

  test('a set survives a round trip through JSON, whatever the order of keys', () => {
    fc.assert(
      fc.property(fields, (a) => {
        const shuffled = reversed(JSON.parse(JSON.stringify(a)))
        expect(JSON.stringify(canonicalFields(shuffled))).toBe(JSON.stringify(a))
      }),
    )
  })

  test('a union is sorted, with the field of a node before its children', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const both = union(a, b)
        const shuffled = Object.fromEntries(Object.entries(both).toReversed())
        expect(JSON.stringify(both)).toBe(JSON.stringify(canonicalFields(shuffled)))
        expect(JSON.stringify(both)).toBe(JSON.stringify(union(b, a)))
      }),
    )
  })

  test('a set is written in kube-apiserver order: fields, keys, values, indexes, each by value', () => {
    const unordered = {
      'i:10': {},
      'i:9': {},
      'v:"a"': {},
      'v:20': {},
      'v:3': {},
      'v:true': {},
      'k:{"protocol":"TCP","port":443}': {},
      'k:{"port":80,"protocol":"UDP"}': {},
      'k:{"port":80}': {},
      'k:{"port":80,"protocol":"TCP"}': {},
      'f:b': { 'f:z': {}, '.': {} },
      'f:a': {},
      'f:B': {},
      'q:unknown': {},
    }
    expect(JSON.stringify(canonicalFields(unordered))).toBe(
      JSON.stringify({
        'f:B': {},
        'f:a': {},
        'f:b': { '.': {}, 'f:z': {} },
        'k:{"port":80}': {},
        'k:{"port":80,"protocol":"TCP"}': {},
        'k:{"port":80,"protocol":"UDP"}': {},
        'k:{"port":443,"protocol":"TCP"}': {},
        'v:3': {},
        'v:20': {},
        'v:"a"': {},
        'v:true': {},
        'i:9': {},
        'i:10': {},
      }),
    )
  })

  test.each([[[]], ['x'], [{ a: {} }], [{ 'k:x': {} }], [{ 'i:x': {} }], [{ 'v:': {} }], [{ 'f:a': 1 }]])(
    '%j is not a set of fields',
    (sent) => {
      expect(() => canonicalFields(sent)).toThrow(SyntaxError)
    },
  )

  test('a set is printed as paths, level by level', () => {
    const set = fieldsAt(
      ['f:spec', 'f:containers', 'k:{"name":"x","port":80}', 'f:image'],
      ['f:spec', 'f:replicas'],
      ['f:metadata', 'f:finalizers', 'v:"a/b"'],
      ['f:list', 'i:0'],
    )
    expect([...printedPaths(set)]).toEqual([
      '.list[0]',
      '.metadata.finalizers[="a/b"]',
      '.spec.replicas',
      '.spec.containers[name="x",port=80].image',
    ])
  })
})

describe('compareText', () => {
  test('text sorts by its UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
    expect(compareText('\u{1f600}', '\uffff')).toBeGreaterThan(0)
  })
})

describe('compare', () => {
  test('an object differs from nothing in all fields, and from itself in none', () => {
    fc.assert(
      fc.property(thing, (object) => {
        expect(isEmpty(compare(object, structuredClone(object), STRUCTURE).written)).toBe(true)
        const { written, removed } = compare(undefined, object, STRUCTURE)
        expect(isEmpty(removed)).toBe(true)
        expect(isEmpty(difference(fieldSetOf(object, STRUCTURE), written))).toBe(true)
      }),
    )
  })

  test('fields written in one direction are removed in the other', () => {
    fc.assert(
      fc.property(thing, thing, (a, b) => {
        const there = compare(a, b, STRUCTURE)
        const back = compare(b, a, STRUCTURE)
        // Added fields are removed on the way back, and changed fields change again.
        expect(isEmpty(difference(there.removed, back.written))).toBe(true)
        expect(isEmpty(difference(back.removed, there.written))).toBe(true)
      }),
    )
  })
})

function reversed(value: unknown): unknown {
  if (isList(value) || !isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  )
}
