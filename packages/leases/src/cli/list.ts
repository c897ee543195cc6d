import { TenureError } from '@tenure/kube'
import { outputFormatOf, rowsText } from '@tenure/runtime/cli'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { findLeases } from './find-leases.ts'
import { followLeases } from './follow.ts'
import { leaseOutput } from './lease-output.ts'

/** Prints the leases of all kinds, soonest expiry first. */
export async function listLeases(context: LeaseCliContext, options: LeaseCliOptions): Promise<void> {
  const format = outputFormatOf(options.output, (message) => new TenureError('TENURE_LEASE_ARGUMENT', message))
  if (options.watch) return await followLeases(context, options, format)
  const leases = await findLeases(context, options)
  const isForPrograms = format === 'json' || format === 'yaml'
  if (leases.length === 0 && !isForPrograms) context.warn('No leases found.')
  else context.write(rowsText(format, leases, leaseOutput(context.clock)))
}
