export * from './types.ts'
export { openStorage, type OpenStorageOptions } from './open.ts'
export type { HistoryLimits } from './memory/history-window.ts'
