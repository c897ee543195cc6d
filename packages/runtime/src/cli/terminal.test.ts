import { expect, test } from 'vitest'
import { displayWidth, fitText, terminalOf } from './terminal.ts'

const painted = (...args: Parameters<typeof terminalOf>): string => terminalOf(...args).paint('red', 'x')

test('colours are used only on a terminal, and never with NO_COLOR', () => {
  const terminal = { isTTY: true, columns: 100, rows: 40 }
  expect(painted(terminal, {})).toBe('\u001B[31mx\u001B[0m')
  expect(painted(terminal, { NO_COLOR: '' })).toBe('\u001B[31mx\u001B[0m')
  expect(painted(terminal, { NO_COLOR: '1' })).toBe('x')
  expect(painted(terminal, { TERM: 'dumb' })).toBe('x')
  expect(painted({}, {})).toBe('x')
})

test('a terminal has its size, and any other output that of a small one', () => {
  expect(terminalOf({ isTTY: true, columns: 100, rows: 40 }, {})).toMatchObject({ columns: 100, rows: 40 })
  expect(terminalOf({ isTTY: true, columns: 0, rows: 0 }, {})).toMatchObject({ columns: 80, rows: 24 })
  expect(terminalOf({ columns: 300, rows: 300 }, {})).toMatchObject({ columns: 80, rows: 24, isTerminal: false })
})

test('a text that is too long ends with an ellipsis, at the width that a terminal shows', () => {
  expect(fitText('abcdef', 6)).toBe('abcdef')
  expect(fitText('abcdef', 5)).toBe('abcd…')
  expect(fitText('容器无法启动', 6)).toBe('容器…')
  expect(displayWidth('容器🚀e\u0301')).toBe(7)
  expect(fitText('a\nb\u001B[31mc', 80)).toBe('a b [31mc')
  expect(fitText('abc', 0)).toBe('')
})
