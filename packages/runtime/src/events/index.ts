export * from './event-recorder.ts'
export type { KubeEvent, ObjectReference } from './event.ts'
