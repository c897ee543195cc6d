export * from './api/rows.ts'
