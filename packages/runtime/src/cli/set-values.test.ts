import { expect, test } from 'vitest'
import { assignSetValue } from './set-values.ts'

test('pairs become nested values with the types that Helm infers', () => {
  const values: Record<string, unknown> = { settings: { a: 1 } }
  const pairs = ['settings.max=2', String.raw`settings.x\.y=on`, 'n=null', 'b=true', 's=1.0']
  expect(pairs.map((pair) => assignSetValue(values, pair))).toEqual(pairs.map(() => true))
  expect(values).toEqual({ settings: { a: 1, max: 2, 'x.y': 'on' }, n: null, b: true, s: '1.0' })
})

test.each(['', 'x', '=1', 'a..b=1', '__proto__.x=1'])('%j is not a pair', (pair) => {
  expect(assignSetValue({}, pair)).toBe(false)
})
