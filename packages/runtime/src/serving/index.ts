export * from './read-body.ts'
