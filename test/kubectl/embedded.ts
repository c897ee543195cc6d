/** Runs the real kubectl on an embedded control plane. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { type ControlPlaneOptions, startControlPlane } from '@tenure/controlplane'

import { type ClusterAccess, type KubectlOptions, type KubectlResult, clusterAccess } from '../cluster/access.ts'
import { findBinaries } from '../cluster/binaries.ts'
import { stderrProgress } from '../cluster/progress.ts'

export interface EmbeddedKubectl extends ClusterAccess {
  /** Runs kubectl in a namespace and returns its output; throws if it fails. */
  in(namespace: string, args: readonly string[], options?: KubectlOptions): Promise<string>
  /** Runs kubectl in a namespace and returns its result, even if it fails. */
  tryIn(namespace: string, args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>
  /** Starts a kubectl that keeps running, such as `get -w`. */
  start(args: readonly string[]): RunningKubectl
  stop(): Promise<void>
}

export interface RunningKubectl {
  /** The lines printed so far. */
  lines(): readonly string[]
  end(): Promise<void>
}

export async function startEmbedded(options: ControlPlaneOptions = {}): Promise<EmbeddedKubectl> {
  const { programs } = await findBinaries(stderrProgress)
  const folder = await mkdtemp(path.join(tmpdir(), 'tenure-kubectl-'))
  const plane = await startControlPlane(options)
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, plane.kubeconfig ?? '')
  const access = clusterAccess(kubeconfig, programs.kubectl)
  return {
    ...access,
    in: (namespace, args, more) => access.kubectl(['-n', namespace, ...args], more),
    tryIn: (namespace, args, more) => access.runKubectl(['-n', namespace, ...args], more),
    start: (args) => startKubectl(programs.kubectl, kubeconfig, args),
    async stop() {
      await plane.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function startKubectl(binary: string, kubeconfig: string, args: readonly string[]): RunningKubectl {
  const child = spawn(binary, ['--kubeconfig', kubeconfig, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, KUBECACHEDIR: path.join(path.dirname(kubeconfig), 'kubectl-cache') },
  })
  const closed = once(child, 'close')
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return {
    lines: () => text.split('\n').filter((line) => line !== ''),
    async end() {
      child.kill()
      await closed
    },
  }
}

/** Returns the words of each line of a table, without its heading. */
export function rows(table: string): readonly (readonly string[])[] {
  const [, ...lines] = table.trimEnd().split('\n')
  return lines.map((line) => line.trim().split(/\s{2,}/))
}

/** Returns the words of a table's heading. */
export const heading = (table: string): readonly string[] => (table.split('\n')[0] ?? '').trim().split(/\s{2,}/)
