import type { Clock } from '@tenure/kube'
import { fromNow, type RowOutput } from '@tenure/runtime/cli'
import type { ListedLease } from './find-leases.ts'

/** The columns of leases, in every format. */
export const leaseOutput = (clock: Pick<Clock, 'now'>): RowOutput<ListedLease> => ({
  columns: [
    {
      heading: 'EXPIRES',
      of: ({ expireAt }) => (expireAt === undefined ? '-' : fromNow(Date.parse(expireAt), clock.now())),
    },
    { heading: 'AT', of: ({ expireAt = '-' }) => expireAt },
    { heading: 'KIND', of: ({ kind }) => kind },
    { heading: 'NAMESPACE', of: ({ namespace = '-' }) => namespace },
    { heading: 'NAME', of: ({ name }) => name },
    { heading: 'LEASE', of: ({ lease }) => lease },
    { heading: 'API VERSION', isWide: true, of: ({ apiVersion }) => apiVersion },
    // The columns before show that it is active and until when.
    {
      heading: 'STATUS',
      of: ({ status }) => status.replace(/^Lease active\.( Expires at \S+ UTC\.)?\s*/, '') || 'Active.',
    },
  ],
  nameOf: ({ apiVersion, kind, name }) => {
    const [group] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
    return `${kind.toLowerCase()}${group ? `.${group}` : ''}/${name}`
  },
})
