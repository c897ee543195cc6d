import type { ApplicationRow } from '@tenure/applications/rows'
import type { ClaimRow } from '@tenure/claims/rows'
import type { DatabaseRow } from '@tenure/databases/cli'
import type { Clock } from '@tenure/kube'
import { leaseId, leaseOutput, type LeaseControllerRow, type ListedLease } from '@tenure/leases/cli'
import { fromNow, roughDuration, type RowOutput } from '@tenure/runtime/cli'
import type { Databases } from '../cluster/databases.ts'
import type { Lists } from '../cluster/lists.ts'
import { claimRows, type Managed, type ObservedPool, poolRows } from '../cluster/managed.ts'

/** Where the rows of `tenure get` come from. */
export interface ViewSources {
  readonly managed: Managed
  readonly lists: Lists
  readonly databases: Databases
  readonly clock: Pick<Clock, 'now'>
  readonly namespace: string | undefined
  /** Told why rows are not complete. */
  readonly note: (text: string) => void
}

/** One kind of things that `tenure get` lists. */
export interface ResourceView<R extends object = object> {
  /** As users write it: the plural first. */
  readonly names: readonly string[]
  /** Its rows are objects with labels. */
  readonly hasLabels: boolean
  rows(sources: ViewSources): Promise<readonly R[]>
  output(clock: Pick<Clock, 'now'>): RowOutput<R>
  /** The names by which a user may mean a row. */
  namesOf(row: R): readonly string[]
  /** Unique among its rows. */
  idOf(row: R): string
}

const age = (at: number, clock: Pick<Clock, 'now'>): string => roughDuration(clock.now() - at)
const orDash = (text: string | undefined): string => (text === undefined || text === '' ? '-' : text)

const applications: ResourceView<ApplicationRow> = {
  names: ['applications', 'application', 'apps', 'app'],
  hasLabels: true,
  rows: ({ managed }) => managed.applications(),
  output: (clock) => ({
    columns: [
      { heading: 'NAMESPACE', of: ({ namespace }) => namespace },
      { heading: 'NAME', of: ({ name }) => name },
      { heading: 'PHASE', of: ({ phase }) => phase },
      { heading: 'READY', of: ({ readyReplicas, replicas }) => `${readyReplicas}/${replicas}` },
      { heading: 'UPDATED', isWide: true, of: ({ updatedReplicas }) => String(updatedReplicas) },
      { heading: 'STRATEGY', isWide: true, of: ({ strategy }) => strategy },
      { heading: 'IMAGE', of: ({ image }) => image },
      { heading: 'AGE', of: ({ createdAt }) => age(createdAt, clock) },
      { heading: 'MESSAGE', of: ({ message, phase }) => (phase === 'Running' ? '' : message) },
    ],
    nameOf: ({ name }) => `application.cloudnative.elide.dev/${name}`,
  }),
  namesOf: ({ name }) => [name],
  idOf: ({ id }) => id,
}

const claims: ResourceView<ClaimRow> = {
  names: ['claims', 'claim'],
  hasLabels: true,
  rows: async ({ managed }) => claimRows(await managed.claims()),
  output: (clock) => ({
    columns: [
      { heading: 'NAMESPACE', of: ({ namespace }) => namespace },
      { heading: 'ID', of: ({ id }) => id },
      { heading: 'POOL', of: ({ pool }) => pool },
      { heading: 'STATUS', of: ({ isIdle, status }) => (isIdle ? `${status} in its pool` : status) },
      {
        heading: 'READY',
        of: ({ resources }) => `${resources.filter(({ ready }) => ready).length}/${resources.length}`,
      },
      {
        heading: 'EXPIRES',
        of: ({ expiresAt, isIdle }) => (isIdle || expiresAt === undefined ? '-' : fromNow(expiresAt, clock.now())),
      },
      { heading: 'AGE', of: ({ createdAt }) => age(createdAt, clock) },
      { heading: 'CONFIGMAP', isWide: true, of: ({ name }) => name },
      { heading: 'WARM', isWide: true, of: ({ preProvisioned }) => (preProvisioned ? 'yes' : 'no') },
      { heading: 'MESSAGE', of: ({ message }) => message },
    ],
    nameOf: ({ id }) => `claim/${id}`,
  }),
  namesOf: ({ id, name }) => [id, name],
  idOf: ({ id }) => id,
}

const pools: ResourceView<ObservedPool> = {
  names: ['pools', 'pool'],
  hasLabels: false,
  rows: async ({ clock, managed }) => poolRows(await managed.claims(), clock.now()),
  output: () => ({
    columns: [
      { heading: 'NAMESPACE', of: ({ namespace }) => namespace },
      { heading: 'NAME', of: ({ name }) => name },
      { heading: 'WARM', of: ({ warm }) => String(warm) },
      { heading: 'PENDING', of: ({ pending }) => String(pending) },
      { heading: 'FAILING', of: ({ failing }) => String(failing) },
      { heading: 'CLAIMED', of: ({ claimed }) => String(claimed) },
      { heading: 'PROBLEM', of: ({ lastFailure }) => orDash(lastFailure) },
    ],
    nameOf: ({ name }) => `pool/${name}`,
  }),
  namesOf: ({ name }) => [name],
  idOf: ({ id }) => id,
}

const leases: ResourceView<ListedLease> = {
  names: ['leases', 'lease'],
  hasLabels: true,
  rows: ({ managed }) => managed.leases(),
  output: leaseOutput,
  namesOf: (lease) => [lease.name, leaseOutput({ now: () => 0 }).nameOf(lease), `${lease.kind}/${lease.name}`],
  idOf: leaseId,
}

const leaseControllers: ResourceView<LeaseControllerRow> = {
  names: ['leasecontrollers', 'leasecontroller', 'lease-controllers', 'lease-controller'],
  hasLabels: true,
  rows: ({ managed }) => managed.leaseControllers(),
  output: (clock) => ({
    columns: [
      { heading: 'NAME', of: ({ name }) => name },
      { heading: 'KIND', of: ({ targetKind }) => targetKind },
      { heading: 'GROUP', isWide: true, of: ({ targetGroup }) => orDash(targetGroup) },
      { heading: 'VERSION', isWide: true, of: ({ targetVersion }) => orDash(targetVersion) },
      { heading: 'MODE', of: ({ mode }) => orDash(mode) },
      { heading: 'READY', of: ({ ready }) => (ready ? 'True' : 'False') },
      { heading: 'LEASES', of: ({ objects }) => (objects === undefined ? '-' : String(objects)) },
      { heading: 'AGE', of: ({ createdAt }) => age(createdAt, clock) },
      { heading: 'MESSAGE', of: ({ message, ready, reason }) => (ready ? '' : message || reason) },
    ],
    nameOf: ({ name }) => `leasecontroller.object-lease-controller.ullberg.us/${name}`,
  }),
  namesOf: ({ name }) => [name],
  idOf: ({ id }) => id,
}

const databases: ResourceView<DatabaseRow> = {
  names: ['databases', 'database', 'dbs', 'db'],
  hasLabels: false,
  async rows({ databases: source, lists, namespace, note }) {
    const { note: incomplete, rows } = await source.rows(lists, namespace)
    if (incomplete !== undefined) note(incomplete)
    return rows
  },
  output: () => ({
    columns: [
      { heading: 'NAMESPACE', of: ({ namespace }) => orDash(namespace) },
      { heading: 'NAME', of: ({ name }) => name },
      { heading: 'TEAM', of: ({ team }) => orDash(team) },
      { heading: 'ENGINE', of: ({ engine }) => engine },
      { heading: 'VERSION', isWide: true, of: ({ version }) => orDash(version) },
      { heading: 'STATUS', of: ({ status }) => status },
      { heading: 'READY', of: ({ readyReplicas, replicas }) => `${readyReplicas}/${replicas}` },
      {
        heading: 'ADDRESS',
        isWide: true,
        of: ({ host, port }) => (host === undefined ? '-' : `${host}:${port ?? ''}`),
      },
      { heading: 'ID', isWide: true, of: ({ id }) => orDash(id) },
      { heading: 'MESSAGE', of: ({ reason }) => reason ?? '' },
    ],
    nameOf: ({ name }) => `database/${name}`,
  }),
  namesOf: ({ id, name }) => [name, id],
  idOf: ({ id, name, namespace = '' }) => `${id}/${namespace}/${name}`,
}

/** The rows of each are looked at by the view alone. */
export const RESOURCE_VIEWS: readonly ResourceView[] = [
  applications,
  claims,
  pools,
  leases,
  leaseControllers,
  databases,
]
