/** Finds or builds the programs of a Kubernetes cluster. */
import { existsSync, readdirSync } from 'node:fs'
import { cp, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { type GoBuild, type GoRunner, buildGo } from './build-cache.ts'
import type { Progress } from './progress.ts'

/** The version of the module in `binaries`, with all programs. */
const DEFAULT_VERSION = 'v1.36.3'

/** The version of the control plane: `TENURE_KUBERNETES_VERSION`, or the newest. */
export const KUBERNETES_VERSION: string = process.env['TENURE_KUBERNETES_VERSION'] || DEFAULT_VERSION

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

/** The programs that a module of another version has; the others are those of the default version. */
const VERSIONED: readonly ProgramName[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']

const MODULES = path.join(import.meta.dirname, 'binaries')

const BUILD: GoBuild = { ...buildOf(DEFAULT_VERSION, MODULES, NAMES), afterwards: copyStages }

function buildOf(version: string, module: string, names: readonly ProgramName[]): GoBuild {
  const [major, minor] = version.slice(1).split('.')
  return {
    label: `kubernetes-${version}`,
    module,
    programs: names.map((name) => ({ name, package: PACKAGES[name] })),
    // Without these flags a Kubernetes that is not built by its own Makefile does not report its version.
    ldflags: [
      '-s -w',
      `-X k8s.io/component-base/version.gitVersion=${version}`,
      `-X k8s.io/component-base/version.gitMajor=${major}`,
      `-X k8s.io/component-base/version.gitMinor=${minor}`,
      '-X k8s.io/component-base/version.gitTreeState=clean',
      `-X k8s.io/client-go/pkg/version.gitVersion=${version}`,
    ],
  }
}

/** The build of another version than the default one; undefined for that. */
function otherBuild(): GoBuild | undefined {
  if (KUBERNETES_VERSION === DEFAULT_VERSION) return undefined
  const module = path.join(MODULES, KUBERNETES_VERSION)
  if (/^v[\d.]+$/.test(KUBERNETES_VERSION) && existsSync(module)) return buildOf(KUBERNETES_VERSION, module, VERSIONED)
  const known = [DEFAULT_VERSION, ...readdirSync(MODULES).filter((name) => name.startsWith('v'))]
  throw new TenureError(
    'TENURE_CLUSTER_VERSION',
    `TENURE_KUBERNETES_VERSION is ${KUBERNETES_VERSION}, and the versions are ${known.join(', ')}.`,
  )
}

/**
 * Finds every program in the folder of `KUBEBUILDER_ASSETS` if it is set, and builds the others from source on first
 * use.
 */
export async function findBinaries(progress: Progress): Promise<Binaries> {
  const assets = assetsFolder()
  const ready = new Set<string>(assets === undefined ? [] : NAMES.filter((name) => existsSync(path.join(assets, name))))
  const other = otherBuild()
  const others = new Set(other?.programs.map(({ name }) => name).filter((name) => !ready.has(name)))
  const wanted = NAMES.filter((name) => !ready.has(name) && !others.has(name))
  const cache = await buildGo(BUILD, new Set(wanted), progress)
  const otherCache = other && (await buildGo(other, others, progress))
  const folderOf = (name: ProgramName): string => {
    if (assets !== undefined && ready.has(name)) return assets
    return path.join(otherCache !== undefined && others.has(name) ? otherCache : cache, 'bin')
  }
  const located = NAMES.map((name) => [name, path.join(folderOf(name), name)])
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
