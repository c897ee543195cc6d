/** Finds or builds the programs of a Kubernetes cluster. */
import { existsSync } from 'node:fs'
import { cp, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { type GoBuild, type GoRunner, buildGo } from './build-cache.ts'
import type { Progress } from './progress.ts'

export const KUBERNETES_VERSION = 'v1.36.3'

export type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok' | 'kubectl'

export interface Binaries {
  /** The path of each program. */
  readonly programs: Readonly<Record<ProgramName, string>>
  /** kwok's stages, one file each: the simulated lifecycle of nodes and pods. */
  readonly stages: readonly string[]
}

const PACKAGES: Readonly<Record<ProgramName, string>> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kwok: 'sigs.k8s.io/kwok/cmd/kwok',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
}

const NAMES = Object.keys(PACKAGES) as ProgramName[]

/** Our own stage: pods whose image cannot be pulled, for tests of failures. */
const OWN_STAGE = path.join(import.meta.dirname, 'stages', 'pod-pull-failure.yaml')
/** Below kustomize/stage in kwok's module. `fast` makes pods ready at once; the lease keeps the node ready. */
const STAGE_FOLDERS = ['node/fast', 'node/heartbeat-with-lease', 'pod/fast']

const [major, minor] = KUBERNETES_VERSION.slice(1).split('.')

const BUILD: GoBuild = {
  label: `kubernetes-${KUBERNETES_VERSION}`,
  module: path.join(import.meta.dirname, 'binaries'),
  programs: NAMES.map((name) => ({ name, package: PACKAGES[name] })),
  // Without these flags a Kubernetes that is not built by its own Makefile does not report its version.
  ldflags: [
    '-s -w',
    `-X k8s.io/component-base/version.gitVersion=${KUBERNETES_VERSION}`,
    `-X k8s.io/component-base/version.gitMajor=${major}`,
    `-X k8s.io/component-base/version.gitMinor=${minor}`,
    '-X k8s.io/component-base/version.gitTreeState=clean',
    `-X k8s.io/client-go/pkg/version.gitVersion=${KUBERNETES_VERSION}`,
  ],
  afterwards: copyStages,
}

/**
 * Finds every program in the folder of `KUBEBUILDER_ASSETS` if it is set, and builds the others from source on first
 * use.
 */
export async function findBinaries(progress: Progress): Promise<Binaries> {
  const assets = assetsFolder()
  const ready = new Set<string>(assets === undefined ? [] : NAMES.filter((name) => existsSync(path.join(assets, name))))
  const cache = await buildGo(BUILD, new Set(NAMES.filter((name) => !ready.has(name))), progress)
  const located = NAMES.map((name) => [
    name,
    assets !== undefined && ready.has(name) ? path.join(assets, name) : path.join(cache, 'bin', name),
  ])
  const stages = await readdir(path.join(cache, 'stages'))
  return {
    programs: Object.fromEntries(located) as Record<ProgramName, string>,
    stages: [...stages.toSorted().map((name) => path.join(cache, 'stages', name)), OWN_STAGE],
  }
}

function assetsFolder(): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS']
  if (!folder) return undefined
  if (!existsSync(folder)) {
    throw new TenureError(
      'TENURE_CLUSTER_NO_ASSETS',
      `KUBEBUILDER_ASSETS names ${folder}, which does not exist. Correct it, or unset it to have the programs built.`,
    )
  }
  return path.resolve(folder)
}

async function copyStages(directory: string, go: GoRunner): Promise<void> {
  const kwok = (await go(['list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/kwok'])).trim()
  const unfinished = path.join(directory, 'building-stages')
  for (const folder of STAGE_FOLDERS) {
    const source = path.join(kwok, 'kustomize', 'stage', folder)
    const files = (await readdir(source)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    for (const file of files) await cp(path.join(source, file), path.join(unfinished, file))
  }
  // Go's module cache is read-only and so are the copies; deleting them only requires a writable folder.
  await rm(path.join(directory, 'stages'), { recursive: true, force: true })
  await rename(unfinished, path.join(directory, 'stages'))
}
