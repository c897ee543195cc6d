export * from './address.ts'
export * from './metrics-handler.ts'
export * from './probes.ts'
export * from './serve.ts'
