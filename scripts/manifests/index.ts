import { applicationDefinition } from '@tenure/applications'
import { leaseControllerDefinition } from '@tenure/leases'

import { applicationsEntries } from '../../packages/tenure/src/manifests/applications.ts'
import { chartManifests } from './chart/index.ts'
import { claimsDeploymentEntries, claimsRoleEntries } from '../../packages/tenure/src/manifests/claims.ts'
import { databasesEntries } from '../../packages/tenure/src/manifests/databases.ts'
import { kustomizeManifests } from './kustomize.ts'
import {
  leaseAdmissionEntries,
  leaseControllersEntries,
} from '../../packages/tenure/src/manifests/lease-controllers.ts'
import type { ManifestOptions } from '../../packages/tenure/src/manifests/entry.ts'
import { manifest, type Manifest } from './manifest.ts'
import { monitoringManifests } from './monitoring/index.ts'

const APPLY_CLAIMS = `kubectl apply -f packages/claims/config/rbac/role.yaml
kubectl apply -f packages/claims/config/manager/deployment.yaml`

const options = (name: string): ManifestOptions => ({
  apply: `kubectl apply -f deploy/${name}.yaml`,
  applyDefinitions: 'kubectl apply -f deploy/crds',
})

/** Returns all manifests that are generated from code. */
export function manifests(): readonly Manifest[] {
  return [
    ...[applicationDefinition, leaseControllerDefinition].map((definition) =>
      manifest(`deploy/crds/${definition.metadata?.name ?? ''}.yaml`, [{ object: definition }]),
    ),
    manifest('deploy/applications.yaml', applicationsEntries(options('applications'))),
    manifest('packages/claims/config/rbac/role.yaml', claimsRoleEntries({ apply: APPLY_CLAIMS })),
    manifest('packages/claims/config/manager/deployment.yaml', claimsDeploymentEntries({})),
    manifest('deploy/databases.yaml', databasesEntries(options('databases'))),
    manifest('deploy/lease-controllers.yaml', leaseControllersEntries(options('lease-controllers'))),
    manifest(
      'deploy/lease-admission.yaml',
      leaseAdmissionEntries({ apply: `${options('lease-controllers').apply} -f deploy/lease-admission.yaml` }),
    ),
    ...chartManifests(),
    ...monitoringManifests(),
    ...kustomizeManifests(),
  ]
}
