import { expect, test } from 'vitest'
import { printHelp } from './help-page.ts'

test('a page has its sections in one order, with aligned columns', () => {
  const text = printHelp({
    usage: 'shop open [options] <day>',
    summary: 'Open the shop.',
    options: [
      { term: '-f, --force', meaning: 'Open it although it is Sunday.' },
      { term: '--a-very-long-option-with-a-value <value>', meaning: 'It has a line of its own.' },
    ],
    arguments: [{ term: 'day', meaning: 'The day.' }],
    examples: [{ term: 'shop open monday', meaning: 'Open it on Monday.' }],
    exitCodes: [{ term: '0', meaning: 'It is open.' }],
    note: 'Ask for more.',
  })
  expect(text).toBe(`Usage: shop open [options] <day>

Open the shop.

Arguments:
  day  The day.

Options:
  -f, --force  Open it although it is Sunday.
  --a-very-long-option-with-a-value <value>
               It has a line of its own.

Examples:
  shop open monday  Open it on Monday.

Exit codes:
  0  It is open.

Ask for more.
`)
})

test('a page is as wide as the terminal, but at most 100 columns', () => {
  const page = { usage: 'x', summary: 'word '.repeat(60).trim() }
  const widest = (columns?: number): number =>
    Math.max(
      ...printHelp(page, columns)
        .split('\n')
        .map((line) => line.length),
    )
  expect([widest(60), widest(), widest(300)]).toEqual([59, 99, 99])
})
