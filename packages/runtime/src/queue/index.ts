export { type Backoff, PRIORITY, WorkQueue, type WorkQueueOptions } from './work-queue.ts'
