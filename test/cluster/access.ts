/** Operations on a cluster that need only its kubeconfig. */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { findBinaries } from './binaries.ts'
import { issueUser, readAuthority, writeKubeconfig } from './credentials.ts'
import { type Progress, stderrProgress } from './progress.ts'

export interface KubectlOptions {
  /** Standard input of kubectl, for `-f -`. Default: empty. */
  readonly stdin?: string | object
  /** The kubeconfig to use. Default: the admin's. */
  readonly kubeconfig?: string
}

export interface KubectlResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ClusterAccess {
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string
  /** Runs kubectl and returns its result, whatever its exit code. */
  runKubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>
  /** Runs kubectl and returns its output; throws if it fails. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<string>
  /** Creates a kubeconfig for a new user in these groups, without any permissions, and returns its path. */
  userKubeconfig(name: string, groups?: readonly string[]): Promise<string>
}

/**
 * Opens a running cluster by the kubeconfig that `npm run cluster -- up` printed or that `workerKubeconfig` returns.
 * With any other cluster's kubeconfig everything except `userKubeconfig` works.
 */
export async function openCluster(kubeconfig: string, progress: Progress = stderrProgress): Promise<ClusterAccess> {
  const { programs } = await findBinaries(progress)
  return clusterAccess(kubeconfig, programs.kubectl)
}

export function clusterAccess(kubeconfig: string, binary: string): ClusterAccess {
  const directory = path.dirname(kubeconfig)
  const runKubectl: ClusterAccess['runKubectl'] = (args, options = {}) => run(binary, kubeconfig, args, options)
  return {
    kubeconfig,
    runKubectl,
    async kubectl(args, options) {
      const { code, stdout, stderr } = await runKubectl(args, options)
      if (code === 0) return stdout
      throw new TenureError(
        'TENURE_CLUSTER_KUBECTL',
        `"kubectl ${args.join(' ')}" ended with ${code}: ${stderr.trim()}`,
      )
    },
    async userKubeconfig(name, groups = []) {
      const authority = await readAuthority(directory)
      const file = path.join(directory, 'users', encodeURIComponent([name, ...groups].join(',')))
      const server = await serverOf(kubeconfig)
      await writeKubeconfig(file, server, authority.certificate, issueUser(authority, name, groups))
      return file
    },
  }
}

function run(
  binary: string,
  kubeconfig: string,
  args: readonly string[],
  options: KubectlOptions,
): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, ['--kubeconfig', options.kubeconfig ?? kubeconfig, ...args], {
      stdio: 'pipe',
      // kubectl's discovery cache lies beside the cluster that it belongs to.
      env: { ...process.env, KUBECACHEDIR: path.join(path.dirname(kubeconfig), 'kubectl-cache') },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    // kubectl may exit, with the reason on stderr, before it has read its input.
    child.stdin.on('error', () => {})
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, stdout, stderr }))
    const { stdin = '' } = options
    child.stdin.end(typeof stdin === 'string' ? stdin : JSON.stringify(stdin))
  })
}

/** Reads only files that `writeKubeconfig` wrote, which are JSON. */
async function serverOf(kubeconfig: string): Promise<string> {
  const { clusters } = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
    clusters: readonly { cluster: { server: string } }[]
  }
  const [first] = clusters
  if (!first) throw new TenureError('TENURE_CLUSTER_KUBECONFIG', `${kubeconfig} names no cluster.`)
  return first.cluster.server
}
