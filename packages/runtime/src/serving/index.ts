export * from './byte-budget.ts'
export * from './read-body.ts'
export * from './server-connections.ts'
