import { applicationDefinition } from '@tenure/applications'
import { leaseControllerDefinition } from '@tenure/leases'

import { applicationsEntries } from './applications.ts'
import { chartManifests } from './chart/index.ts'
import { claimsDeploymentEntries, claimsRoleEntries } from './claims.ts'
import { databasesEntries } from './databases.ts'
import { kustomizeManifests } from './kustomize.ts'
import { leaseAdmissionEntries, leaseControllersEntries } from './lease-controllers.ts'
import { manifest, type Manifest } from './manifest.ts'
import { monitoringManifests } from './monitoring/index.ts'

/** Returns all manifests that are generated from code. */
export function manifests(): readonly Manifest[] {
  return [
    ...[applicationDefinition, leaseControllerDefinition].map((definition) =>
      manifest(`deploy/crds/${definition.metadata?.name ?? ''}.yaml`, [{ object: definition }]),
    ),
    manifest('deploy/applications.yaml', applicationsEntries()),
    manifest('packages/claims/config/rbac/role.yaml', claimsRoleEntries()),
    manifest('packages/claims/config/manager/deployment.yaml', claimsDeploymentEntries()),
    manifest('deploy/databases.yaml', databasesEntries()),
    manifest('deploy/lease-controllers.yaml', leaseControllersEntries()),
    manifest('deploy/lease-admission.yaml', leaseAdmissionEntries()),
    ...chartManifests(),
    ...monitoringManifests(),
    ...kustomizeManifests(),
  ]
}
