import type { KubeObject, Stored } from '@tenure/kube'

/** Content of an Event, without the object it regards. */
export interface EventNote {
  /** The reason in one UpperCamelCase word: `ScaledUp`. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string
  /** The action taken or attempted, in one UpperCamelCase word. Default: the reason. */
  readonly action?: string
  /** Number of occurrences that are recorded together. Default 1. */
  readonly count?: number
}

export interface EventContent extends EventNote {
  readonly type: 'Normal' | 'Warning'
}

/** Receives Events. Recording never fails and never waits: Events are best-effort. */
export interface Recorder {
  record(object: Stored<KubeObject>, event: EventContent): void
}
