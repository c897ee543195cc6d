import { describe, expect, test } from 'vitest'
import { defineKind } from '../model/kind.ts'
import { collectionPath, objectPath, withQuery } from './resource-path.ts'

const Pod = defineKind({ apiVersion: 'v1', kind: 'Pod' })
const Deployment = defineKind({ apiVersion: 'apps/v1', kind: 'Deployment' })
const Node = defineKind({ apiVersion: 'v1', kind: 'Node', namespaced: false })

describe('paths', () => {
  test.each([
    [collectionPath(Pod), '/api/v1/pods'],
    [collectionPath(Pod, 'a'), '/api/v1/namespaces/a/pods'],
    [collectionPath(Deployment, 'a'), '/apis/apps/v1/namespaces/a/deployments'],
    [collectionPath(Node, 'ignored'), '/api/v1/nodes'],
    [objectPath(Node, { name: 'n', namespace: 'ignored' }), '/api/v1/nodes/n'],
    [
      objectPath(Deployment, { name: 'd', namespace: 'a' }, 'status'),
      '/apis/apps/v1/namespaces/a/deployments/d/status',
    ],
    [objectPath(Node, { name: 'system:node?x#y z' }), '/api/v1/nodes/system%3Anode%3Fx%23y%20z'],
  ])('%s is the path for its arguments', (path, expected) => {
    expect(path).toBe(expected)
  })

  test.each(['..', '.', 'a/b', '../secrets/x', '%2e%2e', 'a%2fb'])(
    '%j is rejected as name and as namespace',
    (value) => {
      expect(() => objectPath(Pod, { name: value, namespace: 'a' })).toThrow(/cannot be the name of a Pod/)
      expect(() => objectPath(Pod, { name: 'a', namespace: value })).toThrow(/cannot be the namespace of a Pod/)
    },
  )

  test('a missing name or namespace is an error', () => {
    expect(() => objectPath(Pod, { name: 'p' })).toThrow(/Pod "p" has no namespace/)
    expect(() => objectPath(Pod, { name: '', namespace: 'a' })).toThrow(/empty name/)
  })

  test('undefined parameters are omitted, and others are escaped', () => {
    expect(withQuery('/p', { a: undefined, labelSelector: 'a=b,c in (d)', watch: true, limit: 5 })).toBe(
      '/p?labelSelector=a%3Db%2Cc%20in%20(d)&watch=true&limit=5',
    )
    expect(withQuery('/p', {})).toBe('/p')
  })
})
