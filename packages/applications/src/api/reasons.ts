/** Reasons of events. */
export const REASONS = {
  created: 'Created',
  updated: 'Updated',
  deleted: 'Deleted',
  reconciling: 'Reconciling',
  reconciled: 'Reconciled',
  cleanup: 'Cleanup',
  validationFailed: 'ValidationFailed',
  reconciliationFailed: 'ReconciliationFailed',
} as const

/** Types of conditions. */
export const CONDITIONS = { ready: 'Ready', progressing: 'Progressing' } as const
