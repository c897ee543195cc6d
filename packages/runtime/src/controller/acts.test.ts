import { defineKind, type KubeObject, metadataOf } from '@tenure/kube'
import { ConfigMap, Namespace, Secret } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Actions, apply, create, remove, status } from '../actions/index.ts'
import { controller, type ControllerOptions, watch } from './index.ts'
import { World } from './fixture.testing.ts'

interface Team extends KubeObject {
  readonly spec: { readonly size: number }
  readonly status?: { readonly size: number }
}
const Team = defineKind<Team>({ apiVersion: 'example.dev/v1', kind: 'Team' })
const Fleet = defineKind<Team>({ apiVersion: 'example.dev/v1', kind: 'Fleet', namespaced: false })
const ref = { name: 'red', namespace: 'default' }

let world: World
beforeEach(() => {
  world = new World()
  world.server.seed(Team, { metadata: ref, spec: { size: 1 } })
})
afterEach(async () => await world.end())

/** Runs a controller that always wants the same, until all is quiet or it has failed. */
async function act(actions: Actions<Team>, options: Partial<ControllerOptions<Team>> = {}): Promise<unknown> {
  await world.start(controller(Team, { owns: [ConfigMap], plan: () => actions, ...options }))
  await world.clock.advance(1)
  const failure = world.linesAt('error')[0]?.['error']
  if (failure === undefined) await world.settle()
  return failure
}

describe('create', () => {
  const made = create(ConfigMap, { metadata: { name: 'made' }, data: { a: '1' } })
  const at = { name: 'made', namespace: 'default' }

  test('makes it once, ours, and leaves what is there as it is', async () => {
    expect(await act([made])).toBeUndefined()
    expect(world.writes).toEqual(['create configmaps/'])
    expect(world.server.peek(ConfigMap, at)?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Team', name: 'red' })
    world.server.seed(ConfigMap, { metadata: at, data: { a: 'changed' } })
    await world.settle()
    expect(world.server.peek(ConfigMap, at)?.data).toEqual({ a: 'changed' })
    expect(world.writes).toHaveLength(1)
  })

  test('whose answer was lost finds its own work and goes on', async () => {
    world.server.holdWatches()
    const stop = world.server.intercept(({ verb }) => {
      if (verb !== 'create') return undefined
      stop()
      return 'drop-answer'
    })
    const running = act([made, status({ size: 1 })])
    await world.clock.advance(1)
    // The caches fill, and learn nothing more for a while.
    world.server.releaseWatches()
    await world.clock.advance(0)
    world.server.holdWatches()
    await running
    await world.until(() => world.server.peek(Team, ref)?.status?.size === 1)
    expect(world.server.objects(ConfigMap)).toHaveLength(1)
    expect(world.linesAt('error')).toEqual([])
  })

  test('of a name that belongs to somebody else fails for good', async () => {
    const owner = { apiVersion: 'x/v1', kind: 'Other', name: 'them', uid: 'other', controller: true }
    // It appears between the look at the cache and the request.
    const stop = world.server.intercept(({ verb }) => {
      if (verb !== 'create') return undefined
      stop()
      world.server.seed(ConfigMap, { metadata: { ...at, ownerReferences: [owner] } })
      return undefined
    })
    expect(await act([made])).toMatchObject({ code: 'TENURE_OWNED_BY_ANOTHER', fate: 'terminal' })
  })
})

describe('apply', () => {
  test('into another namespace can not be owned', async () => {
    expect(await act([apply(ConfigMap, { metadata: { name: 'x', namespace: 'other' } })])).toMatchObject({
      code: 'TENURE_OWNER_NAMESPACE',
    })
    expect(world.writes).toEqual([])
  })

  test('of a kind that nobody watches is refused', async () => {
    expect(await act([apply(Secret, { metadata: { name: 'x' } })])).toMatchObject({ code: 'TENURE_KIND_UNDECLARED' })
  })

  test('of a watched kind gets no owner, and may be anywhere', async () => {
    const nobody = watch(Secret, () => [])
    await act([apply(Secret, { metadata: { name: 'x', namespace: 'other' } })], { watches: [nobody] })
    expect(world.server.peek(Secret, { name: 'x', namespace: 'other' })?.metadata.ownerReferences).toBeUndefined()
  })

  test('by a cluster-scoped owner, of children in any namespace', async () => {
    world.server.seed(Fleet, { metadata: { name: 'all' }, spec: { size: 1 } })
    await world.start(
      controller(Fleet, {
        owns: [ConfigMap, Namespace],
        plan: () => [
          apply(Namespace, { metadata: { name: 'yard' } }),
          apply(ConfigMap, { metadata: { name: 'x', namespace: 'yard' }, data: { a: '1' } }),
        ],
      }),
    )
    await world.settle()
    const at = { name: 'x', namespace: 'yard' }
    expect(world.server.peek(ConfigMap, at)?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Fleet' })
    world.server.unseed(ConfigMap, at)
    await world.settle()
    expect(world.server.peek(ConfigMap, at)?.data).toEqual({ a: '1' })
  })

  test('leaves a child that is on its way out, and makes it anew when it is gone', async () => {
    world.server.seed(ConfigMap, { metadata: { ...ref, finalizers: ['theirs'] } })
    const wanted = [apply(ConfigMap, { metadata: { name: 'red' }, data: { a: '1' } })]
    await act(wanted)
    const before = world.server.peek(ConfigMap, ref)
    const { client } = await world.start(controller(Secret, { name: 'bystander', plan: () => [] }))
    await client.delete(ConfigMap, ref)
    world.server.seed(ConfigMap, { metadata: ref, data: { a: 'changed' } })
    world.server.clearRequests()
    await world.settle()
    expect(world.writes).toEqual([])
    world.server.unseed(ConfigMap, ref)
    await world.settle()
    expect(world.server.peek(ConfigMap, ref)?.metadata.uid).not.toBe(before?.metadata.uid)
    expect(world.server.peek(ConfigMap, ref)?.data).toEqual({ a: '1' })
  })
})

describe('remove', () => {
  test('of a kind that nobody watches asks the server, and what is not there is removed', async () => {
    world.server.seed(Secret, { metadata: { name: 'x', namespace: 'default' } })
    expect(await act([remove(Secret, 'x'), status({ size: 1 })])).toBeUndefined()
    expect(world.server.objects(Secret)).toEqual([])
    expect(world.server.peek(Team, ref)?.status).toEqual({ size: 1 })
  })

  test('of what the cache does not have asks nobody', async () => {
    expect(await act([remove(ConfigMap, 'x')])).toBeUndefined()
    expect(world.calls).toEqual([])
  })

  test('only if unchanged carries the state that was seen', async () => {
    const seen = world.server.seed(ConfigMap, { metadata: { name: 'x', namespace: 'default' } })
    await act([remove(ConfigMap, seen, { ifUnchanged: true, propagation: 'Foreground' })])
    const { uid, resourceVersion } = seen.metadata
    expect(world.server.requests.find(({ verb }) => verb === 'delete')?.body).toMatchObject({
      preconditions: { uid, resourceVersion },
      propagationPolicy: 'Foreground',
    })
  })
})

test('whole objects can not be read of a kind that is cached as metadata', async () => {
  await world.start(
    controller(Team, {
      owns: [metadataOf(ConfigMap)],
      plan: ({ owned }) => [owned(ConfigMap, 'x') && status({ size: 1 })],
    }),
  )
  await world.until(() => world.linesAt('error').length > 0)
  expect(world.linesAt('error')[0]?.['error']).toMatchObject({
    code: 'TENURE_KIND_UNDECLARED',
    message: expect.stringContaining('only their metadata'),
  })
})
