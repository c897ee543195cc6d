export * from './fenced.ts'
export * from './leader-elector.ts'
export type { LeaseSpec } from './lease.ts'
export type { LeaderElectorOptions } from './options.ts'
