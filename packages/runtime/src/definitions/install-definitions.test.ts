import { Client, defineKind } from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Facts, Logger } from '../log/logger.ts'
import type { ManagerContext } from '../manager/component.ts'
import { MemoryApi, refuse } from '../testing/memory-api.ts'
import { DEFINITION_VERSION, definitionVersion } from './definition-version.ts'
import { installDefinitions, type InstallDefinitionsOptions } from './install-definitions.ts'

const name = 'pets.example.dev'
const Pet = defineKind({ apiVersion: 'example.dev/v1', kind: 'Pet' })

function definition(edition: number, description = 'An animal.'): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, annotations: { [DEFINITION_VERSION]: String(edition) } },
    spec: {
      group: 'example.dev',
      scope: 'Namespaced',
      names: { kind: 'Pet', plural: 'pets' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', description } } },
      ],
    },
  }
}

let clock: VirtualClock
let server: MemoryApi
let lines: string[]
/** As a server that needs a moment: it serves nothing of a definition until it has established it. */
let isServing: boolean

beforeEach(() => {
  clock = new VirtualClock()
  server = new MemoryApi({ clock })
  lines = []
  isServing = true
  server.intercept(({ plural }) =>
    plural === Pet.plural && !isServing ? refuse(404, 'NotFound', 'no such path') : undefined,
  )
})

interface Run {
  readonly isStarted: () => boolean
  readonly failure: () => unknown
  stop(): Promise<void>
}

function start(wanted: CustomResourceDefinition, options: InstallDefinitionsOptions = {}): Run {
  const random = seededRandom(1)
  const api = new Client({ transport: server, clock, random, retry: { attempts: 1 } })
  // All that it uses of what a manager lends.
  const context = { api, clock, random, log: logger() } as unknown as ManagerContext
  const component = installDefinitions([wanted], options).create(context)
  let isStarted = false
  let failure: unknown
  component.start(new AbortController().signal).then(
    () => (isStarted = true),
    (error: unknown) => (failure = error),
  )
  return { isStarted: () => isStarted, failure: () => failure, stop: () => component.stop(0) }
}

const note = (message: string, facts?: Facts): void => {
  lines.push(facts?.['error'] instanceof Error ? `${message}: ${facts['error'].message}` : message)
}

function logger(): Logger {
  return { debug: note, info: note, warn: note, error: note, child: () => logger() }
}

function establish(): void {
  const live = server.peek(CustomResourceDefinition, { name })
  if (live)
    server.seed(CustomResourceDefinition, {
      ...live,
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    })
}

const writes = (): readonly string[] =>
  server.requests
    .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
    .map(({ verb, name: of }) => `${verb} ${of}`)

async function installed(edition = 1): Promise<void> {
  const run = start(definition(edition))
  await clock.advanceUntil(() => writes().length > 0)
  establish()
  await clock.advanceUntil(run.isStarted)
  server.clearRequests()
}

describe('installs', () => {
  test('what is not there, and waits until it is established and served', async () => {
    isServing = false
    const run = start(definition(1))
    await clock.advance(5_000)
    expect(writes()).toEqual([`apply ${name}`])
    establish()
    await clock.advance(5_000)
    expect(run.isStarted()).toBe(false)
    isServing = true
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([`apply ${name}`])
    expect(server.peek(CustomResourceDefinition, { name })?.spec.names.kind).toBe('Pet')
  })

  test('nothing that is there already', async () => {
    await installed()
    const run = start(definition(1))
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
  })

  test('a newer edition over an older one, whoever wrote that, and leaves the rest of it', async () => {
    const old = definition(1)
    server.seed(CustomResourceDefinition, {
      ...old,
      metadata: { name, annotations: { theirs: 'stays' } },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    })
    const run = start(definition(2, 'A beloved animal.'))
    await clock.advanceUntil(run.isStarted)
    const live = server.peek(CustomResourceDefinition, { name })
    expect(live?.metadata.annotations).toEqual({ theirs: 'stays', [DEFINITION_VERSION]: '2' })
    expect(live?.spec.versions[0]?.schema?.openAPIV3Schema?.description).toBe('A beloved animal.')
    expect(lines).toContain('definition upgraded')
  })

  test('no older edition over a newer one', async () => {
    await installed(3)
    const run = start(definition(2, 'An old idea of an animal.'))
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
    expect(lines).toContain('definition of a newer edition found, left as it is')
  })

  test('again when one that is being deleted is gone', async () => {
    await installed()
    const live = server.peek(CustomResourceDefinition, { name })
    if (!live) throw new Error('not installed')
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    server.seed(CustomResourceDefinition, {
      ...live,
      metadata: { ...live.metadata, finalizers: ['theirs'], deletionTimestamp },
    })
    const run = start(definition(1))
    await clock.advance(5_000)
    expect(run.isStarted()).toBe(false)
    expect(writes()).toEqual([])
    server.unseed(CustomResourceDefinition, { name })
    await clock.advanceUntil(() => writes().length > 0)
    establish()
    await clock.advanceUntil(run.isStarted)
    expect(server.peek(CustomResourceDefinition, { name })?.metadata.uid).not.toBe(live.metadata.uid)
  })

  test('again, without holding up the start, if what is being deleted has objects that wait for somebody', async () => {
    await installed()
    const live = server.peek(CustomResourceDefinition, { name })
    if (!live) throw new Error('not installed')
    const leaving = { finalizers: ['theirs'], deletionTimestamp: '2026-01-01T00:00:00Z' }
    server.seed(CustomResourceDefinition, { ...live, metadata: { ...live.metadata, ...leaving } })
    server.seed(Pet, { metadata: { name: 'rex', namespace: 'default', ...leaving } })
    const run = start(definition(1))
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
    // Whoever started has let it go.
    server.unseed(Pet, { name: 'rex', namespace: 'default' })
    server.unseed(CustomResourceDefinition, { name })
    await clock.advanceUntil(() => writes().length > 0)
    establish()
    expect(server.peek(CustomResourceDefinition, { name })?.metadata.uid).not.toBe(live.metadata.uid)
    await clock.advance(20_000)
    expect(writes()).toHaveLength(1)
    await run.stop()
  })
})

describe('told not to install', () => {
  test('waits, and says what to apply', async () => {
    const run = start(definition(1), { install: false, manifest: 'deploy/pets.yaml' })
    await clock.advance(30_000)
    expect(run.isStarted()).toBe(false)
    expect(writes()).toEqual([])
    expect(lines).toEqual([expect.stringContaining('Apply deploy/pets.yaml, or turn installing on.')])
    server.seed(CustomResourceDefinition, definition(1))
    establish()
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
  })
})

describe('when it can not be written', () => {
  test('goes on with what is there, if it may not write it', async () => {
    await installed()
    server.intercept(({ verb }) => (verb === 'apply' ? refuse(403, 'Forbidden', 'you may not') : undefined))
    const run = start(definition(2, 'New.'))
    await clock.advanceUntil(run.isStarted)
    expect(lines).toContainEqual(expect.stringContaining('you may not'))
  })

  test('tries again while the server is not there, and complains once a minute', async () => {
    const stop = server.intercept(() => 'drop')
    const run = start(definition(1))
    await clock.advance(110_000)
    expect(lines).toHaveLength(2)
    stop()
    await clock.advanceUntil(
      () =>
        writes().some((write) => write.startsWith('apply')) &&
        server.peek(CustomResourceDefinition, { name }) !== undefined,
    )
    establish()
    await clock.advanceUntil(run.isStarted)
    expect(run.failure()).toBeUndefined()
  })

  test('gives up on what the server will never take', async () => {
    server.intercept(({ verb }) => (verb === 'apply' ? refuse(422, 'Invalid', 'not structural') : undefined))
    const run = start(definition(1))
    await clock.advanceUntil(() => run.failure() !== undefined)
    expect(run.failure()).toMatchObject({ code: 'TENURE_API_INVALID' })
  })

  test('ends when it is stopped', async () => {
    isServing = false
    const run = start(definition(1))
    await clock.advance(1_000)
    await run.stop()
    await clock.advanceUntil(() => run.failure() !== undefined)
    expect(run.isStarted()).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('refuses a definition without a name', async () => {
    const run = start({ ...definition(1), metadata: {} })
    await clock.advanceUntil(() => run.failure() !== undefined)
    expect(run.failure()).toMatchObject({ code: 'TENURE_DEFINITION_INVALID', fate: 'bug' })
  })
})

const edition = (text: string): number =>
  definitionVersion({ metadata: { annotations: { [DEFINITION_VERSION]: text } } })

test('an edition is a whole number, and 0 if it is none', () => {
  expect(['7', '007', '', 'x', '-1', '1.5', '99999999999'].map(edition)).toEqual([7, 7, 0, 0, 0, 0, 0])
  expect(definitionVersion({})).toBe(0)
})
