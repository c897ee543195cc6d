import { expect, test } from 'vitest'
import { Tombstone, Version } from './version.ts'

const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { text: 'ü' },
}

/** Parses enough other versions that earlier ones drop their parsed form. */
function parseOthers(): void {
  for (let index = 0; index < 2000; index++) Version.ofObject(`default/${index}`, index, object)
}

const apiVersionOf = (json: string): string => Version.ofJson('a', 1, json).apiVersion

test('the parsed form is dropped and made again on demand', () => {
  const version = Version.ofObject('default/a', 7, object)
  const first = version.object
  expect(version.object).toBe(first)
  expect(JSON.parse(version.json)).toEqual(first)
  parseOthers()
  const again = version.object
  expect(again).not.toBe(first)
  expect(again).toEqual(first)
  expect(again.metadata.resourceVersion).toBe('7')
})

test('a version without JSON keeps its parsed form', () => {
  const version = Version.ofObject('default/a', 7, object)
  const first = version.object
  parseOthers()
  expect(version.object).toBe(first)
})

test('the state of a deletion can be rebuilt from the version before it', () => {
  const last = Version.ofJson('default/a', 7, Version.ofObject('default/a', 7, object).json)
  const deletion = new Tombstone(8, last)
  const { json, object: first } = deletion
  deletion.fold()
  last.fold()
  expect(deletion.json).toBe(json)
  expect(deletion.object).toEqual(first)
  expect(deletion.object.metadata.resourceVersion).toBe('8')
})

test('the apiVersion is found whatever comes first in the JSON', () => {
  expect(apiVersionOf('{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{}}')).toBe(
    'coordination.k8s.io/v1',
  )
  expect(apiVersionOf('{"apiVersion":"v1","kind":"Pod"}')).toBe('v1')
  expect(apiVersionOf('{"metadata":{},"kind":"\\"apiVersion\\":\\"v2\\"","apiVersion":"v1"}')).toBe('v1')
  expect(new Tombstone(2, Version.ofJson('a', 1, '{"kind":"Pod","apiVersion":"v1"}')).apiVersion).toBe('v1')
})

test('a version that drops its parsed form after every read still works', () => {
  const json = Version.ofObject('default/a', 7, object).json
  const version = Version.ofJson('default/a', 7, json)
  const deletion = new Tombstone(8, version)
  for (let turn = 0; turn < 5000; turn++) {
    version.fold()
    deletion.fold()
    expect(deletion.object.metadata.resourceVersion).toBe('8')
    expect(version.object.metadata.resourceVersion).toBe('7')
  }
})
