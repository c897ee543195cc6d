import type { KubeObject, Stored } from '@tenure/kube'

/** What an Event says, apart from what it is about. */
export interface EventNote {
  /** Why, in one UpperCamelCase word: `ScaledUp`. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string
  /** What was done or tried, in one UpperCamelCase word. Default: the reason. */
  readonly action?: string
}

export interface EventContent extends EventNote {
  readonly type: 'Normal' | 'Warning'
}

/** Where Events go. Recording never fails and never waits: Events are a courtesy, not a record. */
export interface Recorder {
  record(object: Stored<KubeObject>, event: EventContent): void
}
