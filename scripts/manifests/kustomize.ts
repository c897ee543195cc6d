import { applicationDefinition } from '@tenure/applications'
import { leaseControllerDefinition } from '@tenure/leases'

import { applicationsEntries } from '../../packages/tenure/src/manifests/applications.ts'
import { claimsDeploymentEntries, claimsRoleEntries } from '../../packages/tenure/src/manifests/claims.ts'
import { databasesEntries } from '../../packages/tenure/src/manifests/databases.ts'
import {
  leaseAdmissionEntries,
  leaseControllersEntries,
} from '../../packages/tenure/src/manifests/lease-controllers.ts'
import type { ManifestEntry } from '../../packages/tenure/src/manifests/entry.ts'
import { manifest, type Manifest } from './manifest.ts'

const FOLDER = 'deploy/kustomize'

/** The comments that these would be in are left out. */
const UNUSED = { apply: '', applyDefinitions: '' }

interface Base {
  readonly name: string
  readonly comment: readonly string[]
  readonly entries: readonly ManifestEntry[]
}

/** Bases of Kustomize: the manifests, one folder each, because a base may only name files below it. */
export function kustomizeManifests(): readonly Manifest[] {
  const definitions = [applicationDefinition, leaseControllerDefinition].map((object) => ({ object }))
  const bases: readonly Base[] = [
    {
      name: 'applications',
      comment: ['The Applications operator.'],
      entries: uncommented(applicationsEntries(UNUSED)),
    },
    {
      name: 'lease-controllers',
      comment: ['The operator of LeaseControllers.'],
      entries: uncommented(leaseControllersEntries(UNUSED)),
    },
    {
      name: 'claims',
      comment: ['The claims operator.'],
      entries: uncommented([...claimsRoleEntries(UNUSED), ...claimsDeploymentEntries({})]),
    },
    { name: 'databases', comment: ['The databases operator.'], entries: uncommented(databasesEntries(UNUSED)) },
    {
      name: 'definitions',
      comment: ['The CustomResourceDefinitions, for operators with INSTALL_DEFINITIONS=false.'],
      entries: definitions,
    },
  ]
  return [...bases.flatMap(baseFiles), ...admissionFiles()]
}

function baseFiles({ name, comment, entries }: Base): readonly Manifest[] {
  const object = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: ['objects.yaml'] }
  return [
    manifest(`${FOLDER}/${name}/kustomization.yaml`, [{ comment, object }]),
    manifest(`${FOLDER}/${name}/objects.yaml`, entries),
  ]
}

/** A component: it changes the Deployment of the base `lease-controllers`. */
function admissionFiles(): readonly Manifest[] {
  const name = 'object-lease-operator'
  const container = { name: 'operator', env: [{ name: 'LEASE_ADMISSION', value: 'true' }] }
  const patch = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'object-lease-system' },
    spec: { template: { spec: { containers: [container] } } },
  }
  const component = {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    resources: ['objects.yaml'],
    patches: [{ path: 'patch.yaml' }],
  }
  const comment = [
    'A component for the base lease-controllers: rejects invalid lease annotations when they are written.',
  ]
  return [
    manifest(`${FOLDER}/lease-admission/kustomization.yaml`, [{ comment, object: component }]),
    manifest(`${FOLDER}/lease-admission/objects.yaml`, uncommented(leaseAdmissionEntries(UNUSED))),
    manifest(`${FOLDER}/lease-admission/patch.yaml`, [{ object: patch }]),
  ]
}

/** The comments name the commands for the plain manifests. */
const uncommented = (entries: readonly ManifestEntry[]): readonly ManifestEntry[] =>
  entries.map(({ object }) => ({ object }))
