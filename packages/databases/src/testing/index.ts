export * from './postgres.ts'
