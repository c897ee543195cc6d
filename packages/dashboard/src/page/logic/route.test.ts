import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatRoute, objectRoute, parseRoute, parseSort } from './route.ts'

test('a hash gives the path and the query', () => {
  expect(parseRoute('#/applications/default/web?q=a+b&ns=prod')).toEqual({
    path: ['applications', 'default', 'web'],
    query: { q: 'a b', ns: 'prod' },
  })
  expect(parseRoute('')).toEqual({ path: [], query: {} })
  expect(parseRoute('#/a%ZZ')).toEqual({ path: ['a%ZZ'], query: {} })
})

test('any place survives its URL', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  fc.assert(
    fc.property(fc.array(text), fc.dictionary(fc.stringMatching(/^[a-z]+$/), text), (path, query) => {
      expect(parseRoute(formatRoute(path, query))).toEqual({ path, query: { ...query } })
    }),
  )
})

test('empty filters are left out', () => {
  expect(formatRoute(['leases'], { q: '', kind: undefined, ns: 'a' })).toBe('#/leases?ns=a')
  expect(formatRoute([])).toBe('#/')
})

test('the page of an object names it in its query', () => {
  expect(objectRoute({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' })).toBe(
    '#/object?apiVersion=apps%2Fv1&kind=Deployment&namespace=default&name=web',
  )
})

test('a minus sign sorts in descending order', () => {
  expect(parseSort('-ready', 'name')).toEqual({ sort: 'ready', isDescending: true })
  expect(parseSort(undefined, 'name')).toEqual({ sort: 'name', isDescending: false })
})
