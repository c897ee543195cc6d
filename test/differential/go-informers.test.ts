/** Tests client-go's own informers, typed and metadata-only, on the embedded control plane. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

import { Client, mergePatch } from '@tenure/kube'
import { ConfigMap, Namespace } from '@tenure/kube/kinds'
import { type ControlPlane, startControlPlane } from '@tenure/controlplane'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { buildInformers } from './go-informers/build.ts'

const POLL_OPTIONS = { timeout: 30_000, interval: 20 }
/** Milliseconds: Go compiles all of client-go the first time. */
const BUILD_MS = 900_000
const INFORMERS = ['typed', 'metadata'] as const

interface Line {
  readonly informer: (typeof INFORMERS)[number]
  readonly event: string
  readonly name?: string
  readonly version?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly data?: Readonly<Record<string, string>>
  readonly names?: readonly string[]
}

let program: string
let folder: string
let plane: ControlPlane
let client: Client
let kubeconfig: string

beforeAll(async () => {
  program = await buildInformers()
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-informers-'))
  plane = await startControlPlane()
  kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, plane.kubeconfig ?? '')
  client = new Client({ transport: plane.transport })
}, BUILD_MS)

afterAll(async () => {
  await plane.stop()
  await rm(folder, { recursive: true, force: true })
})

let namespace: string
let child: ChildProcessWithoutNullStreams | undefined
let lines: Line[]
let complaints: string

beforeEach(async () => {
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'informers-' } })
  namespace = metadata.name
  lines = []
  complaints = ''
})

afterEach(async () => {
  if (child && child.exitCode === null) {
    const ended = once(child, 'close')
    child.stdin.end()
    await ended
  }
  child = undefined
})

/** Starts the informers and waits until both are synced. */
async function follow(...args: readonly string[]): Promise<void> {
  const started = spawn(program, ['--kubeconfig', kubeconfig, '--namespace', namespace, '--selector', 'own', ...args])
  child = started
  started.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  createInterface({ input: started.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line))
  for (const informer of INFORMERS) {
    await expect.poll(() => eventsOf(informer).map(({ event }) => event), POLL_OPTIONS).toContain('synced')
  }
}

const eventsOf = (informer: string): readonly Line[] => lines.filter((line) => line.informer === informer)
const received = (informer: string): readonly string[] =>
  eventsOf(informer)
    .filter(({ event }) => event !== 'synced')
    .map(({ event, name }) => `${event} ${name}`)

const labels = { own: 'yes' }
const create = (name: string): Promise<{ readonly metadata: { readonly resourceVersion: string } }> =>
  client.create(ConfigMap, { metadata: { name, namespace, labels }, data: { turn: '1' } })

describe.each([[[]], [['--protobuf']]])('client-go informers with %s', (args) => {
  test('the informers sync with the existing objects', async () => {
    await create('a')
    await create('b')
    await client.create(ConfigMap, { metadata: { name: 'other', namespace } })
    await follow(...args)
    for (const informer of INFORMERS) {
      expect(eventsOf(informer).find(({ event }) => event === 'synced')?.names).toEqual(['a', 'b'])
    }
    expect(complaints).toBe('')
  })

  test('the informers follow all writes in order', async () => {
    await follow(...args)
    await create('a')
    const changed = await client.patch(
      ConfigMap,
      { name: 'a', namespace },
      mergePatch({ data: { turn: '2' }, metadata: { labels: { more: 'yes' } } }),
    )
    await create('b')
    await client.delete(ConfigMap, { name: 'a', namespace })
    // The object leaves the selection, which its watchers see as a deletion.
    await client.patch(ConfigMap, { name: 'b', namespace }, mergePatch({ metadata: { labels: { own: null } } }))
    for (const informer of INFORMERS) {
      await expect
        .poll(() => received(informer), POLL_OPTIONS)
        .toEqual(['added a', 'updated a', 'added b', 'deleted a', 'deleted b'])
      const update = eventsOf(informer).find(({ event }) => event === 'updated')
      expect(update).toMatchObject({ version: changed.metadata.resourceVersion, labels: { own: 'yes', more: 'yes' } })
      // The metadata informer does not receive data.
      expect(update?.data).toEqual(informer === 'typed' ? { turn: '2' } : undefined)
    }
    expect(complaints).toBe('')
  })
})
