import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findBinaries } from '../../test/cluster/binaries.ts'
import { writeCredentials } from '../../test/cluster/credentials.ts'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { end, Launcher } from '../../test/cluster/launcher.ts'
import type { RunningProgram } from '../../test/cluster/launcher.ts'
import { argumentsOf } from '../../test/cluster/programs.ts'
import { stderrProgress } from '../../test/cluster/progress.ts'

/** A running Kubernetes API and its processes. */
export interface Server {
  readonly kubeconfig: string
  readonly pids: readonly number[]
  /** Milliseconds from the start of the first process to the first 200 of /readyz. */
  readonly readyMs: number
  /** Stops the processes and deletes their files. */
  stop(): Promise<void>
}

/** The options of `npm start`: a heap that grows in smaller steps keeps 20 to 40 MB less resident. */
const OPTIONS = ['--max-semi-space-size=2', '--heap-growing-percent=40']

const READY_POLL_MS = 10
const READY_LIMIT_MS = 60_000

/** Starts etcd with fsync on every write and kube-apiserver, without controllers, which would only add load. */
export async function startPair(): Promise<Server> {
  const { programs, stages } = await findBinaries(stderrProgress)
  const directory = await temporaryDirectory()
  const [etcdPort = 0, apiServerPort = 0] = await freePorts(2)
  const url = `https://127.0.0.1:${apiServerPort}`
  await writeCredentials(directory, url)
  const none = { apiServerArgs: [], controllerManagerArgs: [] }
  const settings = { directory, etcdPort, apiServerPort, durable: true, ...none, stages }
  const launch = async (launcher: Launcher): Promise<readonly RunningProgram[]> => [
    await launcher.start('etcd', programs.etcd, argumentsOf('etcd', settings)),
    // kube-apiserver waits for etcd itself.
    await launcher.start('kube-apiserver', programs['kube-apiserver'], argumentsOf('kube-apiserver', settings)),
  ]
  return start(directory, path.join(directory, 'kubeconfig'), url, launch)
}

/** Starts the embedded control plane with its controllers, as `npm start` does, from plain JavaScript. */
export async function startEmbedded(bundle: string, given?: string): Promise<Server> {
  const directory = given ?? (await temporaryDirectory())
  const [port = 0] = await freePorts(1)
  const launch = async (launcher: Launcher): Promise<readonly RunningProgram[]> => {
    const args = ['serve', '--directory', directory, '--port', String(port)]
    return [await launcher.start('control-plane', process.execPath, [...OPTIONS, bundle, ...args])]
  }
  return start(directory, path.join(directory, 'kubeconfig'), `https://127.0.0.1:${port}`, launch)
}

async function start(
  directory: string,
  kubeconfig: string,
  url: string,
  launch: (launcher: Launcher) => Promise<readonly RunningProgram[]>,
): Promise<Server> {
  const launcher = new Launcher(path.join(directory, 'logs'), directory)
  const began = performance.now()
  const programs = await launch(launcher)
  const stop = async (): Promise<void> => {
    await Promise.all(programs.map(({ identity }) => end(identity, 'SIGKILL')))
    await rm(directory, { recursive: true, force: true })
    await launcher.release()
  }
  try {
    while (!(await isReady(url))) {
      if (performance.now() - began > READY_LIMIT_MS) {
        throw new Error(`Not ready after a minute:\n${await launcher.tail(programs.at(-1)?.name ?? '')}`)
      }
      await delay(READY_POLL_MS)
    }
  } catch (error) {
    await stop()
    throw error
  }
  const readyMs = performance.now() - began
  // The embedded control plane writes the kubeconfig once its controllers run.
  while (!existsSync(kubeconfig)) await delay(READY_POLL_MS)
  return { kubeconfig, pids: programs.map(({ identity }) => identity.pid), readyMs, stop }
}

export function temporaryDirectory(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'tenure-bench-'))
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(`${url}/readyz`, { rejectUnauthorized: false, agent: false, timeout: 5_000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.on('error', () => resolve(false))
    asked.on('timeout', () => asked.destroy())
    asked.end()
  })
}
