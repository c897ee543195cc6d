import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unstored } from '../../registry/decode/derived-object.ts'
import type { StoredObject } from '../../storage/types.ts'
import { ListBody } from './list-body.ts'

function item(name: string, text: string): StoredObject {
  const metadata = { name, uid: name, resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
  return unstored(name, { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { text } } as StoredObject['object'])
}

function bytesOf(list: ListBody, size: number): Buffer {
  const buffer = Buffer.alloc(size)
  const chunks: Buffer[] = []
  for (let taken = list.fill(buffer); taken > 0; taken = list.fill(buffer)) {
    chunks.push(Buffer.from(buffer.subarray(0, taken)))
  }
  return Buffer.concat(chunks)
}

test('pieces of any size join to the bytes of the whole text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', maxLength: 100 }), { maxLength: 12 }),
      fc.integer({ min: 8, max: 2000 }),
      (texts, size) => {
        const items = texts.map((text, index) => item(`item-${index}`, text))
        const list = new ListBody('{"items":[', items, ({ json }) => json.slice(1), ']}\n')
        const bytes = bytesOf(list, size)
        expect(bytes.toString()).toBe(list.text())
        expect(JSON.parse(bytes.toString())).toEqual({ items: items.map(({ object }) => object) })
      },
    ),
  )
})

test('an item larger than a piece is split', () => {
  const list = new ListBody('[', [item('large', 'ü'.repeat(5000)), item('small', '')], ({ json }) => json.slice(1), ']')
  expect(bytesOf(list, 1000).toString()).toBe(list.text())
})
