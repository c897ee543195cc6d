import { expect, test } from 'vitest'
import { HttpError } from '../errors/http-error.ts'
import { pageOf } from './row-list.ts'

const rows = ['d', 'b', 'a', 'c'].map((id, index) => {
  return { id, name: `name-${id}`, size: index, ...(id !== 'c' && { end: 100 - index }), tags: [{ key: `Tag-${id}` }] }
})
const idsOf = (query: Partial<Parameters<typeof pageOf>[1]>) =>
  pageOf(rows, { limit: 10, ...query }).items.map(({ id }) => id)

test('rows are in the order of their ids, or of a field, and those without it come last', () => {
  expect(idsOf({})).toEqual(['a', 'b', 'c', 'd'])
  expect(idsOf({ order: 'desc', sort: 'size' })).toEqual(['c', 'a', 'b', 'd'])
  expect(idsOf({ sort: 'end' })).toEqual(['a', 'b', 'd', 'c'])
  expect(idsOf({ sort: 'end', order: 'desc' })).toEqual(['d', 'b', 'a', 'c'])
  expect(idsOf({ sort: '__proto__' })).toEqual(['a', 'b', 'c', 'd'])
})

test('a part of any text matches, in any letter case', () => {
  expect(idsOf({ q: 'NAME-A' })).toEqual(['a'])
  expect(idsOf({ q: 'tag-d' })).toEqual(['d'])
  expect(idsOf({ q: 'nothing' })).toEqual([])
})

test.each([{}, { sort: 'end' }, { sort: 'end', order: 'desc' as const }, { sort: 'size' }])(
  'pages of %j have every row once, also when rows go away between them',
  (query) => {
    const seen: string[] = []
    let token: string | undefined
    do {
      const page = pageOf(rows, { ...query, limit: 1, continue: token })
      seen.push(...page.items.map(({ id }) => id))
      expect(page.total).toBe(4)
      expect(page.remaining).toBe(4 - seen.length)
      token = page.continue
    } while (token !== undefined)
    expect(seen).toEqual(idsOf(query))
    const { continue: next } = pageOf(rows, { ...query, limit: 2 })
    const left = rows.filter(({ id }) => id !== seen[1])
    expect(pageOf(left, { ...query, limit: 5, continue: next }).items.map(({ id }) => id)).toEqual(seen.slice(2))
  },
)

test.each(['', 'x', Buffer.from('{"v":1}').toString('base64url'), Buffer.from('[]').toString('base64url')])(
  'the token %j is refused',
  (token) => {
    expect(() => pageOf(rows, { limit: 1, continue: token })).toThrow(HttpError)
  },
)
