import { VirtualClock } from '@tenure/kube/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { WorkQueue } from './index.ts'

/** A naive model of the queue: lists, searched from the front. */
class Model {
  now = 0
  /** In the order in which they became ready. */
  ready: { key: string; priority: number }[] = []
  delayed: { key: string; priority: number; due: number }[] = []
  running = new Map<string, { priority: number; due: number } | undefined>()
  failures = new Map<string, number>()
  /** Per priority: the namespaces with ready keys, in rotation order. */
  turns = new Map<number, string[]>()

  add(key: string, priority: number, after: number): void {
    const due = this.now + after
    if (this.running.has(key)) {
      const again = this.running.get(key)
      this.running.set(key, {
        priority: Math.max(priority, again?.priority ?? -Infinity),
        due: Math.min(due, again?.due ?? Infinity),
      })
      return
    }
    const waiting = this.delayed.find((entry) => entry.key === key)
    const ready = this.ready.find((entry) => entry.key === key)
    if (ready) {
      if (priority <= ready.priority) return
      this.ready = this.ready.filter((entry) => entry !== ready)
      this.#updateTurns()
      this.#enter(key, priority, this.now)
    } else if (waiting) {
      waiting.priority = Math.max(priority, waiting.priority)
      if (due >= waiting.due) return
      this.delayed = this.delayed.filter((entry) => entry !== waiting)
      this.#enter(key, waiting.priority, due)
    } else {
      this.#enter(key, priority, due)
    }
  }

  retry(key: string, priority: number): void {
    const failures = this.failures.get(key) ?? 0
    this.failures.set(key, failures + 1)
    this.add(key, priority, Math.min(5 * 2 ** failures, 40))
  }

  get(): string | undefined {
    if (this.ready.length === 0) return undefined
    const priority = Math.max(...this.ready.map((entry) => entry.priority))
    const turns = this.turns.get(priority) ?? []
    const namespace = turns[0]
    const entry = this.ready.find((entry) => entry.priority === priority && namespaceOf(entry.key) === namespace)
    if (!entry || namespace === undefined) throw new Error('the model is broken')
    this.ready = this.ready.filter((other) => other !== entry)
    this.turns.set(priority, [...turns.slice(1), namespace])
    this.#updateTurns()
    this.running.set(entry.key, undefined)
    return entry.key
  }

  done(key: string): void {
    const again = this.running.get(key)
    this.running.delete(key)
    if (again) this.#enter(key, again.priority, again.due)
  }

  advance(milliseconds: number): void {
    this.now += milliseconds
    const due = this.delayed.filter((entry) => entry.due <= this.now).toSorted((a, b) => a.due - b.due)
    this.delayed = this.delayed.filter((entry) => entry.due > this.now)
    for (const entry of due) this.#enter(entry.key, entry.priority, entry.due)
  }

  #enter(key: string, priority: number, due: number): void {
    if (due > this.now) {
      this.delayed.push({ key, priority, due })
      return
    }
    this.ready.push({ key, priority })
    this.#updateTurns()
  }

  /** Namespaces without ready keys lose their turn; new ones join at the end. */
  #updateTurns(): void {
    for (const priority of new Set([...this.turns.keys(), ...this.ready.map((entry) => entry.priority)])) {
      const present = new Set(
        this.ready.filter((entry) => entry.priority === priority).map((entry) => namespaceOf(entry.key)),
      )
      const kept = (this.turns.get(priority) ?? []).filter((namespace) => present.has(namespace))
      this.turns.set(priority, [...kept, ...[...present].filter((namespace) => !kept.includes(namespace))])
    }
  }
}

const namespaceOf = (key: string): string => (key.includes('/') ? (key.split('/')[0] ?? '') : '')

const key = fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'd')
const priority = fc.constantFrom(-100, 0, 10)
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), key, priority }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('addAfter' as const), key, priority, after: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry' as const), key, priority }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), key }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('get' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('done' as const), which: fc.nat(7) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), by: fc.integer({ min: 1, max: 30 }) }) },
)

test('any sequence of operations gives the same result as the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 120, size: 'max' }), async (operations) => {
      const clock = new VirtualClock()
      const queue = new WorkQueue({ clock, name: 'model', backoff: { base: 5, max: 40 } })
      const model = new Model()
      const taken: (string | undefined)[] = []
      const expected: (string | undefined)[] = []
      for (const step of operations) {
        switch (step.do) {
          case 'add':
            queue.add(step.key, step.priority)
            model.add(step.key, step.priority, 0)
            break
          case 'addAfter':
            queue.add(step.key, step.priority, step.after)
            model.add(step.key, step.priority, step.after)
            break
          case 'retry':
            queue.retry(step.key, step.priority)
            model.retry(step.key, step.priority)
            break
          case 'forget':
            queue.forget(step.key)
            model.failures.delete(step.key)
            break
          case 'get':
            taken.push(queue.tryGet())
            expected.push(model.get())
            break
          case 'done': {
            const running = [...model.running.keys()][step.which]
            if (running === undefined) break
            queue.done(running)
            model.done(running)
            break
          }
          case 'advance':
            await clock.advance(step.by)
            model.advance(step.by)
            break
        }
        expect(taken.at(-1)).toBe(expected.at(-1))
        expect(queue.depth).toBe(model.ready.length)
        expect(queue.delayed).toBe(model.delayed.length)
        expect(queue.running).toBe(model.running.size)
        expect(clock.pending).toBeLessThanOrEqual(1)
      }
      // The remaining keys come out in the model's order, and nothing is left behind.
      await clock.advance(1000)
      model.advance(1000)
      for (let next = model.get(); next !== undefined; next = model.get()) expect(queue.tryGet()).toBe(next)
      expect(queue.tryGet()).toBeUndefined()
      queue.shutDown()
      expect(clock.pending).toBe(0)
    }),
    { numRuns: 400 },
  )
})
