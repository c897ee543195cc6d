/** A server-sent event. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly data: string
}

/** Parses a stream of server-sent events, in chunks that may end anywhere. */
export class EventStreamParser {
  readonly #decoder = new TextDecoder()
  #rest = ''
  #id: string | undefined
  #data: string[] = []

  /** Returns the events that the chunk completes. */
  push(chunk: Uint8Array): readonly StreamEvent[] {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    this.#rest = lines.pop() ?? ''
    const events: StreamEvent[] = []
    for (const line of lines) this.#line(line.endsWith('\r') ? line.slice(0, -1) : line, events)
    return events
  }

  #line(line: string, events: StreamEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ id: this.#id, data: this.#data.join('\n') })
      this.#data = []
      return
    }
    const colon = line.indexOf(':')
    // A line that begins with a colon is a comment.
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'data') this.#data.push(value)
    // The id holds for later events, too, until another one comes.
    else if (field === 'id' && !value.includes('\0')) this.#id = value
  }
}
