import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../house/sources.ts'

const POLL_OPTIONS = { timeout: 150_000, interval: 50 }
const kept = { namespace: 'default', name: 'kept' }

let data: string
let child: ChildProcess
let output = ''

beforeEach(() => {
  data = mkdtempSync(path.join(tmpdir(), 'tenure-dev-'))
})
afterEach(() => {
  // With Node's watcher and the program, if the test has failed.
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

async function withClient<R>(work: (client: Client) => Promise<R>): Promise<R> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: path.join(data, 'kubeconfig') }))
  try {
    return await work(new Client({ transport }))
  } finally {
    await transport.close()
  }
}

const count = (line: RegExp): number => [...output.matchAll(line)].length

test(
  'npm run dev starts again when a source changes, with its data, and stops at once',
  { timeout: 600_000 },
  async () => {
    const flags = ['--data', data, '--port', '0', '--kubernetes-port', '0']
    const environment = { ...process.env, API_ADDR: '127.0.0.1:0' }
    child = spawn(process.execPath, ['scripts/launch.mjs', 'scripts/dev.ts', ...flags], {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
    }
    await expect.poll(() => count(/^kubeconfig/gm), POLL_OPTIONS).toBe(1)
    await withClient((client) => client.create(ConfigMap, { metadata: kept }))

    // Nothing in it changes; to the operating system it does.
    utimesSync(path.join(root, 'packages/claims/config/template/values.yaml'), new Date(), new Date())
    await expect.poll(() => count(/^kubeconfig/gm), POLL_OPTIONS).toBeGreaterThan(1)
    expect(count(/^Stopped\.$/gm)).toBeGreaterThan(0)
    await expect
      .poll(
        () => withClient((client) => client.get(ConfigMap, kept)).then(({ metadata }) => metadata.name),
        POLL_OPTIONS,
      )
      .toBe('kept')

    const stops = count(/^Stopped\.$/gm)
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
    expect(count(/^Stopped\.$/gm)).toBe(stops + 1)
  },
)
