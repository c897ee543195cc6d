/** The security settings of the pods and containers of all operators: the restricted Pod Security Standard. */
export const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  seccompProfile: { type: 'RuntimeDefault' },
} as const

export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const

/** Seconds: longer than an operator's own shutdown grace period. */
export const TERMINATION_GRACE_SECONDS = 40
