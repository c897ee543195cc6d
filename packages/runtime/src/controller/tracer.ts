import type { Facts } from '../log.ts'

/** Where spans go. */
export interface Tracer {
  /** Runs `run` inside a span that ends when it does, also if that is a promise. */
  span<R>(name: string, attributes: Facts, run: () => R): R
}
