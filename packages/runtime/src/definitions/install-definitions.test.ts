import { Client, defineKind } from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Facts, Logger } from '../log/logger.ts'
import { SharedInformers } from '../informer/shared-informers.ts'
import type { OperatorContext } from '../manager/component.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { refuse } from '../testing/responses.ts'
import { DEFINITION_VERSION, definitionVersion } from './definition-version.ts'
import { installDefinitions, type InstallDefinitionsOptions } from './install-definitions.ts'

const name = 'pets.example.dev'
const Pet = defineKind({ apiVersion: 'example.dev/v1', kind: 'Pet' })

function definition(version: number, description = 'An animal.'): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, annotations: { [DEFINITION_VERSION]: String(version) } },
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
/** Emulates a server that serves nothing of a definition until it has established it. */
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
  /** Starts the watch of the definition's objects. */
  readonly watch: () => void
  stop(): Promise<void>
}

function start(wanted: CustomResourceDefinition, options: InstallDefinitionsOptions = {}): Run {
  const random = seededRandom(1)
  const api = new Client({ transport: server, clock, random, retry: { attempts: 1 } })
  // The part of the manager's context that the installer uses.
  const informers = new SharedInformers({ api, clock, random, log: logger() })
  informers.informer(Pet)
  const ended = new AbortController()
  const context = { api, clock, random, log: logger(), informers } as unknown as OperatorContext
  const component = installDefinitions([wanted], options).create(context)
  let isStarted = false
  let failure: unknown
  component.start(new AbortController().signal).then(
    () => (isStarted = true),
    (error: unknown) => (failure = error),
  )
  return { isStarted: () => isStarted, failure: () => failure, watch: () => informers.start(ended.signal), stop }

  async function stop(): Promise<void> {
    ended.abort()
    await component.stop(0)
    await informers.whenStopped()
  }
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

async function installed(version = 1): Promise<void> {
  const run = start(definition(version))
  await clock.advanceUntil(() => writes().length > 0)
  establish()
  await clock.advanceUntil(run.isStarted)
  server.clearRequests()
}

describe('installing', () => {
  test('a missing definition is installed, and start waits until it is established and served', async () => {
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

  test('an up-to-date definition is not written', async () => {
    await installed()
    const run = start(definition(1))
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
  })

  test('an older definition of any writer is upgraded, and its other fields stay', async () => {
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

  test('a newer definition is never downgraded', async () => {
    await installed(3)
    const run = start(definition(2, 'An old idea of an animal.'))
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
    expect(lines).toContain('newer definition found, keeping it')
  })

  test('a definition that is being deleted is reinstalled once it is gone', async () => {
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

  test('a terminating definition with objects does not block the start and is reinstalled later', async () => {
    await installed()
    const live = server.peek(CustomResourceDefinition, { name })
    if (!live) throw new Error('not installed')
    const leaving = { finalizers: ['theirs'], deletionTimestamp: '2026-01-01T00:00:00Z' }
    server.seed(CustomResourceDefinition, { ...live, metadata: { ...live.metadata, ...leaving } })
    server.seed(Pet, { metadata: { name: 'rex', namespace: 'default', ...leaving } })
    const run = start(definition(1))
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
    // The started controllers have removed the last object.
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

describe('with installation disabled', () => {
  test('the installer waits and names the manifest to apply', async () => {
    const run = start(definition(1), { install: false, manifest: 'deploy/pets.yaml' })
    await clock.advance(30_000)
    expect(run.isStarted()).toBe(false)
    expect(writes()).toEqual([])
    expect(lines).toEqual([expect.stringContaining('Apply deploy/pets.yaml, or enable installation.')])
    server.seed(CustomResourceDefinition, definition(1))
    establish()
    await clock.advanceUntil(run.isStarted)
    expect(writes()).toEqual([])
  })
})

describe('failures', () => {
  test('an existing definition is used if writing is forbidden', async () => {
    await installed()
    server.intercept(({ verb }) => (verb === 'apply' ? refuse(403, 'Forbidden', 'you may not') : undefined))
    const run = start(definition(2, 'New.'))
    await clock.advanceUntil(run.isStarted)
    expect(lines).toContainEqual(expect.stringContaining('you may not'))
  })

  test('an unreachable server is retried and logged once a minute', async () => {
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

  test('an invalid definition ends the installation', async () => {
    server.intercept(({ verb }) => (verb === 'apply' ? refuse(422, 'Invalid', 'not structural') : undefined))
    const run = start(definition(1))
    await clock.advanceUntil(() => run.failure() !== undefined)
    expect(run.failure()).toMatchObject({ code: 'TENURE_API_INVALID' })
  })

  test('stopping ends the installation', async () => {
    isServing = false
    const run = start(definition(1))
    await clock.advance(1_000)
    await run.stop()
    await clock.advanceUntil(() => run.failure() !== undefined)
    expect(run.isStarted()).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('a definition without a name is rejected', async () => {
    const run = start({ ...definition(1), metadata: {} })
    await clock.advanceUntil(() => run.failure() !== undefined)
    expect(run.failure()).toMatchObject({ code: 'TENURE_DEFINITION_INVALID', fate: 'bug' })
  })
})

const version = (text: string): number =>
  definitionVersion({ metadata: { annotations: { [DEFINITION_VERSION]: text } } })

test('the definition version is an integer and defaults to 0', () => {
  expect(['7', '007', '', 'x', '-1', '1.5', '99999999999'].map(version)).toEqual([7, 7, 0, 0, 0, 0, 0])
  expect(definitionVersion({})).toBe(0)
})

const isInstalled = (): boolean => server.peek(CustomResourceDefinition, { name }) !== undefined

async function runAndDelete(install: boolean): Promise<Run> {
  server.seed(CustomResourceDefinition, definition(1))
  establish()
  const run = start(definition(1), { install })
  await clock.advanceUntil(run.isStarted)
  run.watch()
  await clock.advance(1_000)
  server.unseed(CustomResourceDefinition, { name })
  isServing = false
  server.endWatches()
  return run
}

describe('a definition that is deleted under a running operator', () => {
  test('it is installed again', async () => {
    const run = await runAndDelete(true)
    await clock.advanceUntil(isInstalled)
    expect(lines.filter((line) => line.startsWith('definition'))).toContain('definition is gone, installing it again')
    establish()
    isServing = true
    await run.stop()
  })

  test('it stays away if installation is off', async () => {
    const run = await runAndDelete(false)
    await clock.advance(60_000)
    expect(isInstalled()).toBe(false)
    await run.stop()
  })
})
