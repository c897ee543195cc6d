import type { PageFetch } from '../browser.ts'
import type { PageRow } from '../data/rows.ts'

/** A request that the page made. */
export interface SeenRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

interface FakeStream {
  readonly send: (text: string) => void
  readonly end: () => void
  readonly fail: () => void
}

/** A server with lists and a stream, whose answers a test controls. */
export class FakeServer {
  readonly rows = new Map<string, PageRow[]>()
  readonly requests: SeenRequest[] = []
  /** Answers that come instead, by the beginning of the path. Each is used once. */
  readonly next: { readonly start: string; readonly status: number; readonly body?: unknown }[] = []
  readonly streams: FakeStream[] = []
  isDown = false
  cursor = 'a-0'
  /** Rows of a page, whatever the page asks for. */
  maxRows = Infinity
  /** Pages after the first wait for these. */
  gate: Promise<void> = Promise.resolve()

  readonly fetch: PageFetch = async (path, init) => {
    const headers = init.headers as Readonly<Record<string, string>>
    this.requests.push({ path, headers })
    if (this.isDown) throw new TypeError('fetch failed')
    const planned = this.next.findIndex(({ start }) => path.startsWith(start))
    const [answer] = planned < 0 ? [] : this.next.splice(planned, 1)
    if (answer) return Response.json(answer.body ?? { error: `status ${answer.status}` }, { status: answer.status })
    if (path.startsWith('./api/v1/stream')) return this.#stream(init.signal ?? undefined)
    return this.#list(path)
  }

  get stream(): FakeStream {
    const stream = this.streams.at(-1)
    if (!stream) throw new Error('The page opened no stream.')
    return stream
  }

  /** Paths without what changes, for comparison. */
  paths(start: string): readonly string[] {
    return this.requests.map(({ path }) => path).filter((path) => path.startsWith(start))
  }

  send(id: string, change: unknown): void {
    this.stream.send(`id: ${id}\ndata: ${JSON.stringify(change)}\n\n`)
  }

  /** The connection breaks, and no new one is accepted. */
  goDown(): void {
    this.isDown = true
    for (const stream of this.streams) stream.fail()
  }

  async #list(path: string): Promise<Response> {
    const url = new URL(path, 'http://page.test/')
    const view = url.pathname.split('/').at(-1) ?? ''
    const rows = this.rows.get(view)
    if (!rows) return Response.json({ error: 'There is no such view' }, { status: 404 })
    const start = Number(url.searchParams.get('continue') ?? 0)
    const { cursor } = this
    if (start > 0) await this.gate
    const end = start + Math.min(this.maxRows, Number(url.searchParams.get('limit')))
    const remaining = Math.max(0, rows.length - end)
    return Response.json({
      items: rows.slice(start, end),
      total: rows.length,
      remaining,
      ...(remaining > 0 && { continue: String(end) }),
      cursor,
    })
  }

  #stream(signal: AbortSignal | undefined): Response {
    const encoder = new TextEncoder()
    let isOpen = true
    const once = (action: () => void) => () => {
      if (!isOpen) return
      isOpen = false
      action()
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(encoder.encode(': ok\n\n'))
        signal?.addEventListener(
          'abort',
          once(() => controller.error(signal.reason)),
        )
        this.streams.push({
          send: (text) => controller.enqueue(encoder.encode(text)),
          end: once(() => controller.close()),
          fail: once(() => controller.error(new TypeError('network error'))),
        })
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}
