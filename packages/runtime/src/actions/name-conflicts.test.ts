import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { Obstacles } from './name-conflicts.ts'

test('those in whose way it was are given once, and only those', () => {
  const obstacles = new Obstacles()
  obstacles.note(ConfigMap, 'a/x', 'a/one')
  obstacles.note(ConfigMap, 'a/x', 'a/two')
  obstacles.note(ConfigMap, 'a/x', 'a/two')
  obstacles.note(Deployment, 'a/x', 'a/three')
  expect([...obstacles.clear(ConfigMap, 'a/y')]).toEqual([])
  expect([...obstacles.clear(ConfigMap, 'a/x')]).toEqual(['a/one', 'a/two'])
  expect([...obstacles.clear(ConfigMap, 'a/x')]).toEqual([])
  expect([...obstacles.clear(Deployment, 'a/x')]).toEqual(['a/three'])
  expect(obstacles.size).toBe(0)
})

test('who is gone waits for nothing, and leaves nothing behind', () => {
  const obstacles = new Obstacles()
  obstacles.note(ConfigMap, 'a/x', 'a/one')
  obstacles.note(ConfigMap, 'a/x', 'a/two')
  obstacles.note(Deployment, 'a/x', 'a/one')
  obstacles.forget('a/one')
  expect(obstacles.size).toBe(1)
  expect([...obstacles.clear(ConfigMap, 'a/x')]).toEqual(['a/two'])
})
