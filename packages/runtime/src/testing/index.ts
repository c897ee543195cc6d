export { ControlledStream, type ControlledStreamOptions } from './controlled-stream.ts'
export { planFor, type PlanFixture, statusFor } from '../controller/plan-for.ts'
export type { Interception, Interceptor, RecordedRequest, RequestTarget } from './recorded-request.ts'
export { refuse } from './responses.ts'
