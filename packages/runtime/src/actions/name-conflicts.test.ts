import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { NameConflicts } from './name-conflicts.ts'

test('the keys that wait for a name are returned once', () => {
  const nameConflicts = new NameConflicts()
  nameConflicts.note(ConfigMap, 'a/x', 'a/one')
  nameConflicts.note(ConfigMap, 'a/x', 'a/two')
  nameConflicts.note(ConfigMap, 'a/x', 'a/two')
  nameConflicts.note(Deployment, 'a/x', 'a/three')
  expect([...nameConflicts.clear(ConfigMap, 'a/y')]).toEqual([])
  expect([...nameConflicts.clear(ConfigMap, 'a/x')]).toEqual(['a/one', 'a/two'])
  expect([...nameConflicts.clear(ConfigMap, 'a/x')]).toEqual([])
  expect([...nameConflicts.clear(Deployment, 'a/x')]).toEqual(['a/three'])
  expect(nameConflicts.size).toBe(0)
})

test('a deleted key waits for nothing and leaves nothing behind', () => {
  const nameConflicts = new NameConflicts()
  nameConflicts.note(ConfigMap, 'a/x', 'a/one')
  nameConflicts.note(ConfigMap, 'a/x', 'a/two')
  nameConflicts.note(Deployment, 'a/x', 'a/one')
  nameConflicts.forget('a/one')
  expect(nameConflicts.size).toBe(1)
  expect([...nameConflicts.clear(ConfigMap, 'a/x')]).toEqual(['a/two'])
})
