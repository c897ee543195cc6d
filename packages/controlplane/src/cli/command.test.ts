import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { silentLogger } from '@tenure/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProgram } from './command.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tenure-controlplane-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the program while `use` is called with its first line. Returns what it says to people. */
async function whileRunning(
  settings: { readonly data?: string; readonly kubeconfig?: string; readonly port?: number },
  use: (line: string) => Promise<void>,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const printed = Promise.withResolvers<string>()
  const said: string[] = []
  const output = { print: printed.resolve, say: (line: string) => said.push(line), log: silentLogger }
  const running = runProgram(
    { data: undefined, kubeconfig: undefined, port: undefined, ...settings },
    output,
    stop.signal,
  )
  try {
    await Promise.race([running, printed.promise.then(use)])
  } finally {
    stop.abort()
    await running.catch(() => undefined)
  }
  return said
}

async function clientFor(kubeconfigPath: string): Promise<Client & AsyncDisposable> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath, env: {} }))
  return Object.assign(new Client({ transport }), { [Symbol.asyncDispose]: () => transport.close() })
}

/** The line of a kubeconfig that names the address. */
const serverOf = (file: string): string => /"server": .*/.exec(readFileSync(file, 'utf8'))?.[0] ?? ''

test('the first line of standard output is a kubeconfig that works', async () => {
  const said = await whileRunning({}, async (line) => {
    const file = path.join(folder, 'printed')
    writeFileSync(file, line)
    await using client = await clientFor(file)
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'first' }, data: { a: 'b' } })
  })
  expect(said).toEqual([
    expect.stringMatching(/^Kubernetes API at https:\/\/127\.0\.0\.1:\d+, in memory\. Ctrl-C ends it\.$/),
  ])
})

test('with --data objects and the address are those of the last run, and --kubeconfig names a file', async () => {
  const data = path.join(folder, 'data')
  const kubeconfig = path.join(folder, 'new', 'kubeconfig')
  let first = ''
  await whileRunning({ data, kubeconfig }, async (line) => {
    expect(line).toBe(kubeconfig)
    first = serverOf(kubeconfig)
    await using client = await clientFor(kubeconfig)
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } })
  })
  await whileRunning({ data, kubeconfig }, async () => {
    expect(serverOf(kubeconfig)).toBe(first)
    await using client = await clientFor(kubeconfig)
    expect(await client.get(ConfigMap, { namespace: 'default', name: 'kept' })).toMatchObject({ kind: 'ConfigMap' })
  })
})

test('a second program with the same data joins the first', async () => {
  const data = path.join(folder, 'shared')
  await whileRunning({ data }, async (host) => {
    const said = await whileRunning({ data }, async (joined) => expect(joined).toBe(host))
    expect(said[0]).toContain(`hosted by pid ${process.pid}`)
  })
})
