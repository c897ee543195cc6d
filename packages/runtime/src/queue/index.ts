export {
  type QueueAddOptions,
  QueueWorker,
  type QueueWorkerOptions,
  type Requeue,
  type WorkContext,
} from './queue-worker.ts'
export { type Backoff, PRIORITY, WorkQueue, type WorkQueueOptions } from './work-queue.ts'
