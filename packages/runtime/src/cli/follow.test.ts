import { VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { followRows, followScreen, pollEvery } from './follow.ts'
import { terminalOf } from './terminal.ts'

interface Row {
  readonly id: string
  readonly size: number
}

const output = {
  columns: [
    { heading: 'ID', of: ({ id }: Row) => id },
    { heading: 'SIZE', of: ({ size }: Row) => String(size) },
  ],
  nameOf: ({ id }: Row) => `row/${id}`,
}

function following(stream: Parameters<typeof terminalOf>[0] = {}) {
  const clock = new VirtualClock()
  const end = new AbortController()
  const written: string[] = []
  const options = {
    clock,
    terminal: terminalOf(stream, { NO_COLOR: '1' }),
    signal: end.signal,
    changed: pollEvery(clock, 5_000),
    write: (text: string) => void written.push(text),
  }
  return { clock, end, written, options }
}

async function stop(clock: VirtualClock, end: AbortController, running: Promise<void>): Promise<void> {
  end.abort()
  await clock.advance(1)
  await running
}

test.each([
  ['table' as const, ['EVENT  ID  SIZE\nADDED  a   1', 'ADDED     b   22', 'MODIFIED  a   3', 'DELETED  b   22']],
  ['name' as const, ['row/a', 'row/b', 'row/a', 'row/b']],
])('rows as %s are printed once for each change', async (format, expected) => {
  const { clock, end, options, written } = following()
  let rows: readonly Row[] = [{ id: 'a', size: 1 }]
  const running = followRows<Row>({
    ...options,
    read: () => Promise.resolve(rows),
    output,
    format,
    idOf: ({ id }) => id,
    render: () => '',
  })
  await clock.advance(10_000)
  rows = [
    { id: 'a', size: 1 },
    { id: 'b', size: 22 },
  ]
  await clock.advance(10_000)
  rows = [
    { id: 'a', size: 3 },
    { id: 'b', size: 22 },
  ]
  await clock.advance(10_000)
  rows = [{ id: 'a', size: 3 }]
  await clock.advance(10_000)
  expect(written.map((text) => text.replaceAll(/^(\w+) +/gm, (_, word: string) => `${word}  `))).toEqual(
    expected.map((text) => text.replaceAll(/^(\w+) +/gm, (_, word: string) => `${word}  `)),
  )
  await stop(clock, end, running)
})

test('programs get one document for each change', async () => {
  const { clock, end, options, written } = following({ isTTY: true })
  const rows = {
    read: () => Promise.resolve([{ id: 'a', size: 1 }]),
    output,
    format: 'json' as const,
    idOf: ({ id }: Row) => id,
    render: () => '',
  }
  const running = followRows<Row>({ ...options, ...rows })
  await clock.advance(12_000)
  expect(written.map((text) => JSON.parse(text) as unknown)).toEqual([{ type: 'ADDED', object: { id: 'a', size: 1 } }])
  await stop(clock, end, running)
})

test('a screen is drawn in place each second, and never higher than the terminal', async () => {
  const { clock, end, options, written } = following({ isTTY: true, columns: 20, rows: 5 })
  const render = (value: string): string => `${value} ${clock.now() % 60_000}\n2\n3\n4\n5\n6`
  const running = followScreen({ read: () => Promise.resolve('now'), render }, options)
  await clock.advance(2_500)
  expect(written.map((text) => text.split('\n').length)).toEqual([4, 4, 4])
  expect(written[0]).toBe('\u001B[2J\u001B[Hnow 0\u001B[K\n2\u001B[K\n3\u001B[K\n… and 3 more lines\u001B[K\u001B[J')
  expect(written[2]?.startsWith('\u001B[Hnow 2000')).toBe(true)
  await stop(clock, end, running)
})

test('a screen that is not on a terminal is printed when it changes', async () => {
  const { clock, end, options, written } = following()
  let value = 'a'
  const running = followScreen({ read: () => Promise.resolve(value), render: (text) => text }, options)
  await clock.advance(20_000)
  value = 'b'
  await clock.advance(20_000)
  expect(written).toEqual(['a', '\nb'])
  await stop(clock, end, running)
})

test('a read that fails ends it', async () => {
  const { options } = following()
  const screen = { read: () => Promise.reject<string>(new Error('gone')), render: (text: string) => text }
  await expect(followScreen(screen, options)).rejects.toThrow('gone')
})
