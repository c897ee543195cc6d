import { expect, test } from 'vitest'
import { EventStreamParser, type StreamEvent } from './event-stream.ts'

const TEXT =
  ': ok\n\nid: 1\ndata: {"name":"größe ☂"}\n\nid: 2\r\ndata: a\r\ndata:b\r\n\r\n: heartbeat\n\nevent: x\ndata: c\n\n'
const EVENTS = [
  { id: '1', data: '{"name":"größe ☂"}' },
  { id: '2', data: 'a\nb' },
  { id: '2', data: 'c' },
]

test.each([1, 2, 3, 7, 1_000])('events are the same in chunks of %i bytes', (size) => {
  const bytes = new TextEncoder().encode(TEXT)
  const parser = new EventStreamParser()
  const events: StreamEvent[] = []
  for (let start = 0; start < bytes.length; start += size) events.push(...parser.push(bytes.slice(start, start + size)))
  expect(events).toEqual(EVENTS)
})

test('an event that is cut off is not reported', () => {
  const parser = new EventStreamParser()
  expect(parser.push(new TextEncoder().encode('id: 3\ndata: half\n'))).toEqual([])
})
