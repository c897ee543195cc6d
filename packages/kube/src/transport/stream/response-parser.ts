/** What a parser tells of one answer, in this order. */
export interface ResponseSink {
  onHead(status: number, headers: ResponseHeaders): void
  /** These bytes of what was pushed: they are theirs only until the call returns. */
  onBody(bytes: Buffer, start: number, end: number): void
  onEnd(): void
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>

type State =
  | 'head'
  | 'size'
  | 'size end'
  | 'extension'
  | 'chunk'
  | 'chunk end'
  | 'trailer'
  | 'counted'
  | 'until close'
  | 'end'

const [TAB, NEWLINE, RETURN, SPACE, SEMICOLON] = [9, 10, 13, 32, 59]
/** Bytes of a head, or of a trailer: far more than an API server sends, yet no endless one can fill the memory. */
const LONGEST_HEAD = 256 * 1024
/** A chunk size with more digits is a number that cannot be counted to. */
const MOST_DIGITS = 12

/**
 * Reads one HTTP/1.1 answer from bytes that may be cut anywhere. Only what a client of an API server meets: no
 * upgrades, no pipelining. What it does not understand is an error, never a guess.
 *
 * Between the chunks of a body it works on bytes without a string or a view made of them: API servers send chunks of
 * 4 KB, and without that reading 16 MB of them took 165–183 ms of CPU instead of 132–166.
 */
export class ResponseParser {
  readonly #sink: ResponseSink
  #state: State = 'head'
  /** The beginning of a head or trailer whose end has not come yet. */
  #text = ''
  /** Bytes left of this chunk, or of the body; in a chunk's size, what has been read of it. */
  #left = 0
  #digits = 0

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /** Takes the first `length` bytes. Throws if this is not HTTP. */
  push(bytes: Buffer, length = bytes.length): void {
    let at = 0
    while (at < length) {
      switch (this.#state) {
        case 'chunk':
        case 'counted':
          at = this.#takeBody(bytes, at, length)
          break
        case 'size':
          this.#takeSize(bytes[at++] ?? 0)
          break
        case 'size end':
          if (bytes[at++] !== NEWLINE) throw noSize()
          this.#sized()
          break
        case 'extension':
          if (bytes[at++] === NEWLINE) this.#sized()
          break
        case 'chunk end':
          at = this.#takeNextSize(bytes, at, length)
          break
        case 'until close':
          this.#sink.onBody(bytes, at, length)
          return
        case 'head':
        case 'trailer':
          at = this.#takeText(bytes, at, length)
          break
        case 'end':
          return
        default:
          this.#state satisfies never
      }
    }
  }

  /** The connection was closed. Throws if that cuts the answer short. */
  close(): void {
    if (this.#state === 'end') return
    if (this.#state !== 'until close')
      throw new Error('the other side closed the connection before the answer was whole')
    this.#end()
  }

  #takeBody(bytes: Buffer, at: number, length: number): number {
    const end = Math.min(at + this.#left, length)
    this.#left -= end - at
    this.#sink.onBody(bytes, at, end)
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'chunk end'
      else this.#end()
    }
    return end
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit >= 0 && this.#digits < MOST_DIGITS) {
      this.#left = this.#left * 16 + digit
      this.#digits++
    } else if (this.#digits === 0 || digit >= 0) throw noSize()
    else if (byte === NEWLINE) this.#sized()
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#state = 'extension'
    else if (byte === RETURN) this.#state = 'size end'
    else throw noSize()
  }

  #sized(): void {
    this.#digits = 0
    this.#state = this.#left === 0 ? 'trailer' : 'chunk'
  }

  /**
   * From the end of a chunk to the beginning of the next, if all of that is there and as it mostly is; else one byte.
   * There are thousands of them in a long list, and the small loop is soon compiled, as the large one is not.
   */
  #takeNextSize(bytes: Buffer, at: number, length: number): number {
    if (bytes[at] === RETURN && bytes[at + 1] === NEWLINE) {
      const start = at + 2
      let end = start
      let size = 0
      for (let digit = hexDigit(bytes[end] ?? 0); digit >= 0 && end < length; digit = hexDigit(bytes[end] ?? 0)) {
        size = size * 16 + digit
        end++
      }
      const isUsual = size > 0 && end - start <= MOST_DIGITS && end + 1 < length
      if (isUsual && bytes[end] === RETURN && bytes[end + 1] === NEWLINE) {
        this.#left = size
        this.#state = 'chunk'
        return end + 2
      }
    }
    this.#takeChunkEnd(bytes[at] ?? 0)
    return at + 1
  }

  #takeChunkEnd(byte: number): void {
    if (byte === NEWLINE) this.#state = 'size'
    else if (byte !== RETURN) throw new Error('a chunk of the answer is longer than was said')
  }

  #takeText(bytes: Buffer, at: number, length: number): number {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline < 0 || newline >= length ? length : newline + 1
    this.#text += bytes.toString('latin1', at, end)
    if (this.#text.length > LONGEST_HEAD) throw new Error('the head of the answer has no end')
    if (newline < end && newline >= 0) this.#takeLine(this.#text)
    return end
  }

  /** `text` ends with a line; an empty one ends the whole. */
  #takeLine(text: string): void {
    const isEmpty = text.endsWith('\n\r\n') || text.endsWith('\n\n')
    if (this.#state === 'head') {
      if (isEmpty) this.#head(text)
      // Trailers say nothing that matters here.
    } else if (isEmpty || text === '\r\n' || text === '\n') this.#end()
  }

  #head(text: string): void {
    this.#text = ''
    const [first = '', ...lines] = text.trimEnd().split(/\r?\n/)
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1])
    if (!(status >= 100)) throw new Error('the answer is not HTTP/1.1')
    if (status === 101) throw new Error('the server changes to another protocol, unasked')
    // "100 Continue" and its kind: the answer proper follows.
    if (status < 200) return
    const headers = parseHeaders(lines)
    this.#state = bodyState(status, headers)
    if (this.#state === 'counted') this.#left = Number(headers['content-length'] ?? 0)
    this.#sink.onHead(status, headers)
    if (this.#state === 'counted' && this.#left === 0) this.#end()
  }

  #end(): void {
    this.#state = 'end'
    this.#sink.onEnd()
  }
}

function bodyState(status: number, headers: ResponseHeaders): State {
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined) {
    if (String(encoding).toLowerCase() === 'chunked') return 'size'
    throw new Error(`the answer comes in a way nobody asked for (transfer-encoding ${String(encoding)})`)
  }
  const length = headers['content-length'] ?? (status === 204 || status === 304 ? '0' : undefined)
  if (length === undefined) return 'until close'
  if (!/^\d{1,15}$/.test(String(length))) throw new Error('the length of the answer is not a number')
  return 'counted'
}

function noSize(): Error {
  return new Error('a chunk of the answer has no size')
}

/** -1: not a digit. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function parseHeaders(lines: readonly string[]): ResponseHeaders {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new Error('the answer has a header without a name')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const before = headers[name]
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return headers
}
