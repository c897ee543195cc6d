import { GROUP } from './names.ts'

export const ANNOTATIONS = {
  /** On pod templates and Jobs: a digest of the pod spec and the configuration, so that a change of either rolls the pods. */
  revision: `${GROUP}/revision`,
  /** On Applications that passed the mutating webhook. */
  mutated: 'elide.dev/webhook-mutated',
} as const
