/** Limits of one rendering, so that no template hangs or exhausts the process. */
import { TemplateError } from '../errors.ts'

export interface RenderLimits {
  /** Executed actions, loop iterations and work of functions. Default: 2,000,000. */
  readonly maxSteps?: number
  /** Characters of the output, and of any text on the way to it. Default: 16 Mi. */
  readonly maxOutput?: number
  /** Nested `include`, `template` and `tpl` calls. Default: 200. */
  readonly maxDepth?: number
  /**
   * Work of regular expressions: the characters that they search, times the instructions of their programs. Default:
   * 100,000,000, which takes some seconds at worst.
   */
  readonly maxRegexpWork?: number
  /** Milliseconds. Default: 10,000. */
  readonly maxTime?: number
}

export const DEFAULT_LIMITS: Required<RenderLimits> = {
  maxSteps: 2_000_000,
  maxOutput: 16 * 1024 * 1024,
  maxDepth: 200,
  maxRegexpWork: 100_000_000,
  maxTime: 10_000,
}

/** The clock is read once in this many steps. */
const STEPS_PER_CLOCK_CHECK = 1024

export class Meter {
  readonly limits: Required<RenderLimits>
  readonly #now: () => number
  readonly #start: number
  #steps = 0
  #nextCheck = STEPS_PER_CLOCK_CHECK
  #allocated = 0
  #regexpWork = 0

  constructor(limits: RenderLimits, now: () => number) {
    this.limits = { ...DEFAULT_LIMITS, ...limits }
    this.#now = now
    this.#start = now()
  }

  step(): void {
    if (++this.#steps >= this.#nextCheck) this.#check()
  }

  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps >= this.#nextCheck) this.#check()
  }

  /** All texts together may be many times as large as the output, because most of them are short-lived. */
  allocate(characters: number): void {
    this.checkOutput(characters)
    this.#allocated += characters
    if (this.#allocated > this.limits.maxOutput * 64) throw this.#outputExceeded()
    this.spend(characters >>> 6)
  }

  /** Counts the work of a regular expression before it is done. */
  spendOnRegexp(work: number): void {
    this.#regexpWork += work
    if (this.#regexpWork > this.limits.maxRegexpWork) {
      throw new TemplateError(
        'limit',
        `The work of regular expressions exceeds the limit of ${this.limits.maxRegexpWork}. Check the patterns and the length of the texts that they search.`,
      )
    }
    this.checkTime()
  }

  /** Checks the arguments of a function before it works on them: together they are as large as a text may be. */
  checkArguments(args: readonly unknown[]): void {
    let characters = 0
    for (const arg of args) if (typeof arg === 'string') characters += arg.length
    if (characters < 256) return
    this.checkOutput(characters)
    this.spend(characters >>> 8)
  }

  /** Counts the text that a function made. */
  checkResult(result: unknown): void {
    if (typeof result === 'string' && result.length >= 256) this.allocate(result.length)
  }

  checkOutput(characters: number): void {
    if (characters > this.limits.maxOutput) throw this.#outputExceeded()
  }

  checkDepth(depth: number): void {
    if (depth > this.limits.maxDepth) {
      throw new TemplateError(
        'limit',
        `The template nests include, template and tpl more than ${this.limits.maxDepth} levels deep. Check for a template that includes itself.`,
      )
    }
  }

  get outputMessage(): string {
    return `The template makes a text of more than ${this.limits.maxOutput} characters. Check its loops and repeat calls.`
  }

  #outputExceeded(): TemplateError {
    return new TemplateError('limit', this.outputMessage)
  }

  /** For work that takes long without many steps. */
  checkTime(): void {
    if (this.#now() - this.#start > this.limits.maxTime) {
      throw new TemplateError('limit', `The template needs more than ${this.limits.maxTime} ms. Check its loops.`)
    }
  }

  #check(): void {
    if (this.#steps > this.limits.maxSteps) {
      throw new TemplateError('limit', `The template needs more than ${this.limits.maxSteps} steps. Check its loops.`)
    }
    this.checkTime()
    this.#nextCheck = Math.min(this.#steps + STEPS_PER_CLOCK_CHECK, this.limits.maxSteps + 1)
  }
}
