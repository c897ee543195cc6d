export { planFor, type Seen } from './controller/plan-for.ts'
export { silentLogger } from './log.ts'
export * from './testing/event-model.ts'
export * from './testing/memory-api.ts'
