import type { Table } from '@tenure/runtime'

/** Rows of an operator's configuration: whether annotations are looked at when they are written. */
export const leaseAdmissionTable = {
  leaseAdmission: {
    type: 'boolean',
    default: false,
    environment: 'LEASE_ADMISSION',
    meaning:
      'Refuse lease annotations that make no sense when they are written, with the reason, by an admission webhook. ' +
      'Without it, or while it does not answer: lease-status tells it afterwards.',
  },
} as const satisfies Table
