import { expect, test } from 'vitest'
import { StatusEchoes } from './status-echoes.ts'

test('the echo of the own write is not a change', () => {
  const echoes = new StatusEchoes()
  echoes.begin('shop/web')
  expect(echoes.hold('shop/web', '7')).toBe(true)
  expect(echoes.end('shop/web', '7')).toBe(false)
})

test('a change by another writer while a write is under way is reported when the write ends', () => {
  const echoes = new StatusEchoes()
  echoes.begin('shop/web')
  expect(echoes.hold('shop/web', '7')).toBe(true)
  expect(echoes.hold('shop/web', '8')).toBe(true)
  expect(echoes.end('shop/web', '7')).toBe(true)
})

test('a change while a write fails is reported', () => {
  const echoes = new StatusEchoes()
  echoes.begin('shop/web')
  echoes.hold('shop/web', '7')
  expect(echoes.end('shop/web', undefined)).toBe(true)
})

test('without a write under way a change is not held', () => {
  const echoes = new StatusEchoes()
  expect(echoes.hold('shop/web', '7')).toBe(false)
  echoes.begin('shop/web')
  expect(echoes.end('shop/web', '7')).toBe(false)
  expect(echoes.hold('shop/web', '8')).toBe(false)
  expect(echoes.hold('shop/other', '8')).toBe(false)
})
