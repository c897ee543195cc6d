/** Kinds of which many variations are sent. */
import type { Case, Json, JsonObject } from './case.ts'
import { create } from './steps.ts'

/** A kind, and what it must at least have. */
export interface Sample {
  readonly path: string
  readonly base: JsonObject
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A sample with some of its fields changed. */
export function merged(base: Json | undefined, change: Json): Json {
  if (!isObject(change)) return change
  const own = isObject(base) ? base : {}
  return { ...own, ...Object.fromEntries(Object.entries(change).map(([key, value]) => [key, merged(own[key], value)])) }
}

/** One case of a kind: each of these specs makes it wrong. */
export const refused = ({ path, base }: Sample, name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `refuse ${name}`,
  steps: specs.map((spec) => create(`${path}?dryRun=All`, merged(base, { spec }), { status: 422 })),
})

/** The same of what is right, which is defaulted. */
export const taken = ({ path, base }: Sample, name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `take ${name}`,
  steps: specs.map((spec) => create(`${path}?dryRun=All`, merged(base, { spec }), { pick: ['spec'] })),
})
