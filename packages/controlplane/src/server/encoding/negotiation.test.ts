import { describe, expect, test } from 'vitest'
import { compareVersions } from '../discovery/discovery.ts'
import { negotiate } from './negotiation.ts'
import { parseQuery } from '../http/query.ts'
import { parseRoute } from '../http/route.ts'

describe('negotiate', () => {
  test.each([
    [undefined, 'json', 'whole'],
    ['*/*', 'json', 'whole'],
    ['application/vnd.kubernetes.protobuf,application/json', 'json', 'whole'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json', 'table'],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      'json',
      'metadata',
    ],
    ['application/json;as=Nonsense;v=v1;g=meta.k8s.io, application/yaml', 'yaml', 'whole'],
    ['application/yaml;q=0.5, application/json;q=0.9', 'json', 'whole'],
  ])('%s is answered with %s, %s', (accept, format, content) => {
    expect(negotiate(accept)).toMatchObject({ format, content })
  })

  test('an unsupported representation gets 406', () => {
    expect(() => negotiate('text/html')).toThrow(expect.objectContaining({ code: 406 }))
    expect(() => negotiate('application/vnd.kubernetes.protobuf')).toThrow(/^only the following media types/)
  })
})

describe('parseRoute', () => {
  test.each([
    ['/api/v1/pods', { group: '', plural: 'pods', namespace: undefined, name: undefined }],
    ['/api/v1/namespaces/a', { plural: 'namespaces', namespace: undefined, name: 'a' }],
    ['/api/v1/namespaces/a/status', { plural: 'namespaces', name: 'a', subresource: 'status' }],
    ['/api/v1/namespaces/a/pods', { plural: 'pods', namespace: 'a', name: undefined }],
    [
      '/apis/apps/v1/namespaces/a/deployments/web/scale',
      { group: 'apps', plural: 'deployments', name: 'web', subresource: 'scale' },
    ],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Amasters', { name: 'system:masters' }],
    ['/api/v1/watch/namespaces/a/pods', { plural: 'pods', namespace: 'a', isWatch: true }],
  ])('%s', (path, expected) => {
    expect(parseRoute(path)).toMatchObject(expected)
  })

  test.each(['/', '/version', '/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/apis//v1/'])(
    '%s is not a resource',
    (path) => {
      expect(parseRoute(path)).toBeUndefined()
    },
  )
})

test('queries are read as kube-apiserver reads them', () => {
  expect(parseQuery('watch=true&timeoutSeconds=5&allowWatchBookmarks=false&dryRun=All&labelSelector=a%3Db')).toEqual({
    isWatch: true,
    includeObject: undefined,
    options: { timeoutSeconds: 5, allowWatchBookmarks: false, dryRun: ['All'], labelSelector: 'a=b' },
  })
  expect(() => parseQuery('limit=x')).toThrow('strconv.ParseInt: parsing "x": invalid syntax')
})

test('stable versions come first, newest first', () => {
  expect(['v1beta2', 'v1', 'foo', 'v2', 'v1alpha1', 'v1beta10'].toSorted(compareVersions)).toEqual([
    'v2',
    'v1',
    'v1beta10',
    'v1beta2',
    'v1alpha1',
    'foo',
  ])
})
