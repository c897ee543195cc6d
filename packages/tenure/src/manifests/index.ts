import type { ManifestEntry, ManifestOptions } from './entry.ts'

/** The objects that run an operator on a cluster, or a part of it. */
export interface OperatorManifest {
  readonly name: string
  /** Printed only if it is named: it changes what another manifest does. Default false. */
  readonly isOptional?: boolean
  load(options: ManifestOptions): Promise<readonly ManifestEntry[]>
}

/** The manifests by name. Each loads the operator that it is for. */
export const operatorManifests: readonly OperatorManifest[] = [
  {
    name: 'applications',
    load: async (options) => (await import('./applications.ts')).applicationsEntries(options),
  },
  {
    name: 'claims',
    async load(options) {
      const { claimsDeploymentEntries, claimsRoleEntries } = await import('./claims.ts')
      return [...claimsRoleEntries(options), ...claimsDeploymentEntries(options)]
    },
  },
  {
    name: 'databases',
    load: async (options) => (await import('./databases.ts')).databasesEntries(options),
  },
  {
    name: 'lease-controllers',
    load: async (options) => (await import('./lease-controllers.ts')).leaseControllersEntries(options),
  },
  {
    name: 'lease-admission',
    isOptional: true,
    load: async (options) => (await import('./lease-controllers.ts')).leaseAdmissionEntries(options),
  },
]
