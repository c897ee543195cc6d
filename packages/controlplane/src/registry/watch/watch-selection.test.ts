import { expect, test } from 'vitest'
import type { Change, StoredObject } from '../../storage/types.ts'
import { KINDS } from '../testing/catalog.ts'
import { unstored } from '../decode/derived-object.ts'
import { shareSelection, WatchSelection } from './watch-selection.ts'

function stored(name: string, labels: Record<string, string>): StoredObject {
  const metadata = { name, namespace: 'here', uid: name, resourceVersion: '7', creationTimestamp: '', labels }
  return unstored(`here/${name}`, { kind: 'ConfigMap', apiVersion: 'v1', metadata })
}

function change(previous: StoredObject | undefined, current: StoredObject | undefined): Change {
  return { revision: 9, resource: 'configmaps', key: 'here/a', previous, current, deleted: undefined }
}

const red = stored('a', { color: 'red' })
const blue = stored('a', { color: 'blue' })
const matches = (object: { metadata?: { labels?: Readonly<Record<string, string>> } }): boolean =>
  object.metadata?.labels?.['color'] === 'red'
const selecting = { definition: KINDS.configMap, namespace: 'here', matches }

test('an object enters, changes in and leaves a selection', () => {
  const selection = new WatchSelection(selecting)
  expect(selection.itemFor(change(undefined, red))).toMatchObject({ type: 'ADDED', stored: red })
  expect(selection.itemFor(change(red, red))).toMatchObject({ type: 'MODIFIED', stored: red })
  expect(selection.itemFor(change(blue, red))).toMatchObject({ type: 'ADDED', stored: red })
  expect(selection.itemFor(change(red, blue))).toMatchObject({ type: 'DELETED', stored: { revision: 9 } })
  expect(selection.itemFor(change(red, undefined))).toMatchObject({ type: 'DELETED', stored: { revision: 9 } })
  expect(selection.itemFor(change(blue, blue))).toBeUndefined()
  expect(selection.itemFor(change(blue, undefined))).toBeUndefined()
})

test('a namespace is not selected by the prefix of its name', () => {
  const selection = new WatchSelection({ ...selecting, namespace: 'her' })
  expect(selection.itemFor(change(undefined, red))).toBeUndefined()
  expect(new WatchSelection({ ...selecting, namespace: undefined }).itemFor(change(undefined, red))).toBeDefined()
})

test('watches of the same selection share it and its events', () => {
  let asked = 0
  const counting = {
    ...selecting,
    matches: () => {
      asked++
      return true
    },
  }
  const first = shareSelection(counting, { labelSelector: 'color=red' })
  const second = shareSelection(counting, { labelSelector: 'color=red' })
  const other = shareSelection(counting, { labelSelector: 'color=blue' })
  const elsewhere = shareSelection({ ...counting, namespace: undefined }, { labelSelector: 'color=red' })
  expect(second.selection).toBe(first.selection)
  expect(new Set([first, other, elsewhere].map(({ selection }) => selection)).size).toBe(3)
  const added = change(undefined, red)
  expect(second.selection.itemFor(added)).toBe(first.selection.itemFor(added))
  expect(asked).toBe(1)
  for (const { release } of [first, second, other, elsewhere]) release()
  const later = shareSelection(counting, { labelSelector: 'color=red' })
  expect(later.selection).not.toBe(first.selection)
  later.release()
})
