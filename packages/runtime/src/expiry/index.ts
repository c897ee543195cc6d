export * from './due-heap.ts'
export * from './expire.ts'
export * from './expiry.ts'
