/** Sends a case to a server and records its responses. */
import { setTimeout as pause } from 'node:timers/promises'

import type { Case, Json, ReadStep, RequestStep, Step, WatchStep } from './case.ts'
import { compare } from './compare.ts'
import { inOrder, Masks } from './masks.ts'
import { isRecord, valueAt, without } from './paths.ts'
import { type Answer, EventReader, type ServerUnderTest } from './server-under-test.ts'

/** The masked result of a step. */
export interface Recorded {
  readonly step: string
  readonly status: number
  readonly expected: number
  readonly seen: Json
}

/**
 * Milliseconds. After a previous run on the same cluster, hundreds of namespaces may still be terminating, one after
 * the other.
 */
const EVENTUALLY_MS = 150_000
const INTERVAL_MS = 50
const MAX_TITLE_CHARACTERS = 160

export type Variables = Readonly<Record<string, string>>

export async function runCase(
  server: ServerUnderTest,
  { steps }: Case,
  variables: Variables,
): Promise<readonly Recorded[]> {
  const run = new CaseRun(server, variables)
  try {
    const recorded: Recorded[] = []
    for (const [index, step] of steps.entries()) {
      try {
        recorded.push(await run.step(step, `${index + 1}. ${titleOf(step)}`))
      } catch (cause) {
        // A broken connection is recorded as a response, so that it counts as a difference.
        const seen = { failure: cause instanceof Error ? cause.message.slice(0, 200) : String(cause) }
        recorded.push({ step: `${index + 1}. ${titleOf(step)}`, status: 0, expected: expectedOf(step), seen })
      }
    }
    return recorded
  } finally {
    run.close()
  }
}

/** Returns the steps for which the corpus expects another status than the real server returns. */
export function unexpected(real: readonly Recorded[]): readonly string[] {
  return real
    .filter(({ status, expected }) => status !== expected)
    .map(
      ({ step, status, expected, seen }) =>
        `${step}: the case expects ${expected}, the real server returns ${status}: ${JSON.stringify(seen).slice(0, 600)}`,
    )
}

export function differences(real: readonly Recorded[], embedded: readonly Recorded[]): readonly string[] {
  return real.flatMap(({ step, status, seen }, index) => {
    const other = embedded[index]
    return [...compare(status, other?.status, `${step} → status`), ...compare(seen, other?.seen, `${step} → `)]
  })
}

function titleOf(step: Step): string {
  if ('read' in step) return `read ${step.events} of ${step.read}`
  const { path } = step
  const shown = path.length > MAX_TITLE_CHARACTERS ? `${path.slice(0, MAX_TITLE_CHARACTERS)}…` : path
  return 'watch' in step ? `WATCH ${shown}` : `${step.method} ${shown}`
}

function expectedOf(step: Step): number {
  if ('read' in step) return 200
  if (step.status !== undefined) return step.status
  return 'method' in step && step.method === 'POST' ? 201 : 200
}

class CaseRun {
  readonly #server: ServerUnderTest
  readonly #masks = new Masks()
  readonly #watches = new Map<string, EventReader>()
  #variables: Variables

  constructor(server: ServerUnderTest, variables: Variables) {
    this.#server = server
    this.#variables = variables
  }

  async step(step: Step, title: string): Promise<Recorded> {
    if ('read' in step) return this.#read(step, title)
    if ('watch' in step) return this.#watch(step, title)
    const { body } = step
    const metadata = isRecord(body) ? body['metadata'] : undefined
    if (isRecord(metadata) && typeof metadata['generateName'] === 'string') {
      this.#masks.expectGenerated(metadata['generateName'])
    }
    const answer = await this.#ask(step)
    this.#save(step.save, answer.body)
    const seen = this.#shown(answer, step)
    return { step: title, status: answer.status, expected: expectedOf(step), seen }
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close()
  }

  async #ask(step: RequestStep): Promise<Answer> {
    const filled: RequestStep = {
      ...step,
      path: this.#fill(step.path),
      ...(step.headers && { headers: JSON.parse(this.#fill(JSON.stringify(step.headers))) as Record<string, string> }),
      ...(step.body !== undefined && {
        body: this.#fill(typeof step.body === 'string' ? step.body : JSON.stringify(step.body)),
      }),
    }
    const end = performance.now() + EVENTUALLY_MS
    for (;;) {
      const answer = await this.#server.ask(filled)
      if (!step.eventually || answer.status === expectedOf(step) || performance.now() > end) return answer
      await pause(INTERVAL_MS)
    }
  }

  async #watch(step: WatchStep, title: string): Promise<Recorded> {
    const opened = await this.#server.watch(this.#fill(step.path), step.headers ?? {})
    const expected = expectedOf(step)
    if (!(opened instanceof EventReader)) {
      return { step: title, status: opened.status, expected, seen: this.#shown(opened, {}) }
    }
    this.#watches.set(step.watch, opened)
    return { step: title, status: 200, expected, seen: {} }
  }

  async #read(step: ReadStep, title: string): Promise<Recorded> {
    const events = await this.#watches.get(step.read)?.read(step.events)
    if (events) this.#save(step.save, events)
    const shown = events?.map((event) => this.#masks.mask((step.ignore ?? []).reduce(without, event)))
    return { step: title, status: 200, expected: 200, seen: shown ?? '(there is no such watch)' }
  }

  #shown({ headers, body }: Answer, { pick, ignore = [], unordered }: Omit<Partial<RequestStep>, 'headers'>): Json {
    const rest = ignore.reduce(without, body)
    const chosen = pick ? Object.fromEntries(pick.map((path) => [path, valueAt(rest, path) ?? '(absent)'])) : rest
    const masked = this.#masks.mask(chosen)
    return { headers, body: unordered ? inOrder(masked) : masked }
  }

  #save(save: Readonly<Record<string, string>> = {}, body: Json): void {
    const saved = Object.entries(save).map(([name, path]) => {
      const value = valueAt(body, path)
      return [name, typeof value === 'string' ? value : JSON.stringify(value ?? null)]
    })
    this.#variables = { ...this.#variables, ...Object.fromEntries(saved) }
  }

  #fill(text: string): string {
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => this.#variables[name] ?? whole)
  }
}
