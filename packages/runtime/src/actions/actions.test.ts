import { defineKind, type KubeObject } from '@tenure/kube'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Action,
  apply,
  call,
  create,
  describeAction,
  event,
  remove,
  requeueAfter,
  requeueAt,
  status,
} from './index.ts'

interface Widget extends KubeObject {
  readonly spec: { readonly size: number }
  readonly status?: { readonly phase: 'Big' | 'Small' }
}
const Widget = defineKind<Widget>({ apiVersion: 'example.dev/v1', kind: 'Widget' })
const widget = { metadata: { name: 'w', namespace: 'n', uid: 'u', resourceVersion: '7' }, spec: { size: 1 } }

const nothing = (): void => undefined

describe('remove', () => {
  test('removing an object that was read targets exactly that object', () => {
    expect(remove(Widget, widget)).toEqual({
      type: 'remove',
      kind: Widget,
      ref: { name: 'w', namespace: 'n' },
      uid: 'u',
    })
    expect(remove(Widget, widget, { ifUnchanged: true, propagation: 'Foreground' })).toMatchObject({
      resourceVersion: '7',
      propagation: 'Foreground',
    })
  })

  test('removing by name takes the uid from the cache', () => {
    expect(remove(Widget, 'w')).toEqual({ type: 'remove', kind: Widget, ref: { name: 'w' } })
    expect(remove(Widget, { name: 'w', namespace: 'n' })).toEqual({
      type: 'remove',
      kind: Widget,
      ref: { name: 'w', namespace: 'n' },
    })
  })
})

test('requeueAt accepts a number, a Date or RFC 3339 text, and nothing else', () => {
  const at = { type: 'requeue', at: Date.UTC(2026, 0, 1) }
  expect(requeueAt(Date.UTC(2026, 0, 1))).toEqual(at)
  expect(requeueAt(new Date('2026-01-01'))).toEqual(at)
  expect(requeueAt('2026-01-01T00:00:00Z')).toEqual(at)
  expect(() => requeueAt('soon')).toThrow('soon is not a time')
})

test('every action has a description for the log', () => {
  const actions: readonly Action[] = [
    apply(Widget, widget),
    create(Widget, { metadata: { generateName: 'w-' }, spec: { size: 1 } }),
    remove(Widget, widget),
    status({}),
    event({ type: 'Normal', reason: 'Grown', message: '' }),
    requeueAfter(5),
    call('ring', nothing),
    { type: 'finalizer', name: 'a/b', present: true },
  ]
  expect(actions.map(describeAction)).toEqual([
    'apply Widget n/w',
    'create Widget w-…',
    'remove Widget n/w',
    'status',
    'event Grown',
    'requeue',
    'call ring',
    'add finalizer a/b',
  ])
})

test('actions are checked against the types of their kinds', () => {
  // @ts-expect-error a size is a number
  expect(apply(Widget, { metadata: { name: 'w' }, spec: { size: 'big' } }).type).toBe('apply')
  // @ts-expect-error there is no such field
  expect(apply(Widget, { metadata: { name: 'w' }, spec: { size: 1, colour: 'red' } }).type).toBe('apply')
  expectTypeOf(status({ phase: 'Big' as const })).toExtend<Action<Widget>>()
  expectTypeOf(status({ phase: 'Huge' as const })).not.toExtend<Action<Widget>>()
})
