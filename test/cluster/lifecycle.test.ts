/** Tests how a cluster starts and stops. Each test starts its own cluster, so that the shared one is not affected. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { findBinaries } from './binaries.ts'
import { startCluster } from './cluster.ts'
import { type ProcessIdentity, isAlive, signal } from './process-identity.ts'
import { type ClusterState, endRecorded, readState } from './state.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 50 }
const CLI = path.join(import.meta.dirname, 'cli.ts')
const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok']

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-lifecycle-'))
})

afterAll(async () => {
  // Stops clusters that a failed test left running.
  for (const name of ['cli', 'owned', 'failing']) await endRecorded(path.join(folder, name))
  await rm(folder, { recursive: true, force: true })
})

describe('a cluster owned by a process', () => {
  test('the API server keeps its address over a pause, a crash and a clean restart', async () => {
    const cluster = await startCluster({ progress: () => {} })
    try {
      const ready = ['get', '--raw', '/readyz', '--request-timeout=1s']
      cluster.apiServer.pause()
      const paused = await cluster.runKubectl(ready)
      expect(paused.code).toBe(1)
      cluster.apiServer.resume()
      await expect.poll(() => cluster.runKubectl(ready), POLL_OPTIONS).toMatchObject({ code: 0, stdout: 'ok' })

      await cluster.kubectl(['create', 'configmap', 'kept'])
      await cluster.stopApiServer()
      expect((await cluster.runKubectl(ready)).stderr).toContain('refused')
      await cluster.startApiServer()
      expect(await cluster.kubectl(['get', 'configmap', 'kept', '-o', 'name'])).toBe('configmap/kept\n')

      await cluster.restartApiServer('SIGTERM')
      expect(await cluster.kubectl(ready)).toBe('ok')
    } finally {
      await cluster.stop()
    }
    expect(existsSync(cluster.directory)).toBe(false)
    expect(cluster.programs()).toEqual([])
  })

  test.each(['SIGKILL', 'SIGINT'] as const)('a cluster stops when its owner ends by %s', async (name) => {
    const directory = path.join(folder, 'owned')
    // The program lives until this test ends it or ends itself.
    const program = `
      process.stdin.resume().once('end', () => process.exit())
      import { startCluster } from ${JSON.stringify(path.join(import.meta.dirname, 'cluster.ts'))}
      const cluster = await startCluster({ directory: ${JSON.stringify(directory)} })
      console.log(JSON.stringify(cluster.programs().map(({ identity }) => identity)))`
    const owner = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const identities = JSON.parse(await firstLine(owner)) as readonly ProcessIdentity[]
    expect(identities).toHaveLength(COMPONENTS.length)
    expect(identities.every(isAlive)).toBe(true)

    const ended = once(owner, 'exit')
    owner.kill(name)
    await ended
    await expect.poll(() => identities.filter(isAlive), POLL_OPTIONS).toEqual([])
    await expect.poll(() => existsSync(directory), POLL_OPTIONS).toBe(false)
  })

  test('a folder with other files is rejected and not touched', async () => {
    const file = path.join(folder, 'precious.txt')
    await writeFile(file, 'precious')
    await expect(startCluster({ directory: folder })).rejects.toMatchObject({ code: 'TENURE_CLUSTER_DIRECTORY' })
    expect(existsSync(file)).toBe(true)
  })
})

describe('npm run cluster', () => {
  test('up, a second up, status and down work and leave no process', async () => {
    const [first, second] = await Promise.all([cli(['up']), cli(['up'])])
    const kubeconfig = path.join(folder, 'cli', 'kubeconfig')
    for (const result of [first, second]) {
      expect(result).toMatchObject({ code: 0, stdout: `KUBECONFIG=${kubeconfig}\n` })
    }
    // Of two concurrent calls one starts the cluster and the other finds it running.
    expect([first, second].filter(({ stderr }) => stderr.includes('already runs'))).toHaveLength(1)

    const { programs } = (await readState(path.join(folder, 'cli'))) as ClusterState
    expect(programs.map(({ name }) => name)).toEqual(COMPONENTS)
    expect(programs.every(({ identity }) => isAlive(identity))).toBe(true)
    expect((await cli(['status'])).code).toBe(0)

    expect(await cli(['down'])).toMatchObject({ code: 0, stdout: '' })
    expect(programs.filter(({ identity }) => isAlive(identity))).toEqual([])
    expect(existsSync(kubeconfig)).toBe(false)
    expect((await cli(['status'])).code).toBe(1)
    expect((await cli(['down'])).stderr).toContain('No cluster was running here.')
  })

  test('up replaces a cluster with a dead process', async () => {
    await cli(['up'])
    const before = (await readState(path.join(folder, 'cli'))) as ClusterState
    const scheduler = before.programs.find(({ name }) => name === 'kube-scheduler')
    if (!scheduler) throw new Error('No scheduler')
    signal(scheduler.identity, 'SIGKILL')
    await expect.poll(async () => (await cli(['status'])).code, POLL_OPTIONS).toBe(1)

    const result = await cli(['up'])
    expect(result.code).toBe(0)
    expect(result.stderr).toContain('Starting a new cluster')
    expect(before.programs.filter(({ identity }) => isAlive(identity))).toEqual([])
    await cli(['down'])
  })

  test('a failing up prints the log of the failed process and cleans up', async () => {
    const assets = path.join(folder, 'assets')
    const { programs } = await findBinaries(() => {})
    await mkdir(assets)
    await symlink(programs.etcd, path.join(assets, 'etcd'))
    await writeFile(path.join(assets, 'kube-apiserver'), '#!/bin/sh\necho "this server has a bad day"\nexit 1\n')
    await chmod(path.join(assets, 'kube-apiserver'), 0o755)

    const directory = path.join(folder, 'failing')
    const result = await runCli(['up', '--directory', directory], { KUBEBUILDER_ASSETS: assets })
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain('kube-apiserver exited')
    expect(result.stderr).toContain('this server has a bad day')
    expect(existsSync(directory)).toBe(false)
  })

  test('wrong arguments print the usage', async () => {
    expect(await cli(['sideways'])).toMatchObject({ code: 2, stdout: '' })
    expect(await cli(['up', '--colour'])).toMatchObject({ code: 2, stdout: '' })
  })
})

const cli = (args: readonly string[]): Promise<CliResult> =>
  runCli([...args, '--directory', path.join(folder, 'cli')], {})

interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function runCli(args: readonly string[], env: NodeJS.ProcessEnv): Promise<CliResult> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('The program has no output')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('The program exited without output')
}
