/** Helm's own command, with which users install the chart. */
import { spawn } from 'node:child_process'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { buildGo } from './build-cache.ts'
import { ROOT } from './programs-under-test/child.ts'
import { type Progress, stderrProgress } from './progress.ts'

export const HELM_VERSION = 'v3.22.0'

export interface HelmResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Helm {
  /** Runs helm and returns its result, whatever its exit code. */
  run(args: readonly string[], stdin?: string): Promise<HelmResult>
  /** Runs helm and returns its output; throws if it fails. */
  helm(args: readonly string[], stdin?: string): Promise<string>
}

/** Builds helm if necessary. It uses the cluster of the kubeconfig, and keeps its own files in `directory`. */
export async function openHelm(
  kubeconfig: string,
  directory: string,
  progress: Progress = stderrProgress,
): Promise<Helm> {
  const binary = await buildHelm(progress)
  const env = {
    PATH: process.env['PATH'],
    KUBECONFIG: kubeconfig,
    HOME: directory,
    HELM_CACHE_HOME: path.join(directory, 'cache'),
    HELM_CONFIG_HOME: path.join(directory, 'config'),
    HELM_DATA_HOME: path.join(directory, 'data'),
  }
  const run: Helm['run'] = (args, stdin = '') => runHelm(binary, args, env, stdin)
  return {
    run,
    async helm(args, stdin) {
      const { code, stdout, stderr } = await run(args, stdin)
      if (code === 0) return stdout
      throw new TenureError('TENURE_CLUSTER_HELM', `"helm ${args.join(' ')}" ended with ${code}: ${stderr.trim()}`)
    },
  }
}

/** Builds the Go program if necessary and returns its path. */
export async function buildHelm(progress: Progress): Promise<string> {
  const build = {
    label: `helm-${HELM_VERSION}`,
    module: path.join(import.meta.dirname, 'helm'),
    programs: [{ name: 'helm', package: 'helm.sh/helm/v3/cmd/helm' }],
    ldflags: ['-s -w', `-X helm.sh/helm/v3/internal/version.version=${HELM_VERSION}`],
  }
  return path.join(await buildGo(build, new Set(['helm']), progress), 'bin', 'helm')
}

function runHelm(binary: string, args: readonly string[], env: NodeJS.ProcessEnv, stdin: string): Promise<HelmResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, args, { stdio: 'pipe', env, cwd: ROOT })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    // helm may exit, with the reason on stderr, before it has read its input.
    child.stdin.on('error', () => {})
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, stdout, stderr }))
    child.stdin.end(stdin)
  })
}
