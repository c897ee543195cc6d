export { planFor, type PlanFixture, statusFor } from '../controller/plan-for.ts'
export { silentLogger } from '../log/logger.ts'
export * from './event-model.ts'
export * from './memory-api.ts'
