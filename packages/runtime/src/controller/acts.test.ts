import { defineKind, type KubeObject, metadataOf, TenureError } from '@tenure/kube'
import { ConfigMap, Namespace, Secret } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Actions, type AdoptionCheck, apply, create, event, remove, status } from '../actions/index.ts'
import { controller, type ControllerOptions, watch } from './index.ts'
import { ControllerFixture } from './fixture.testing.ts'

interface Team extends KubeObject {
  readonly spec: { readonly size: number }
  readonly status?: { readonly size: number }
}
const Team = defineKind<Team>({ apiVersion: 'example.dev/v1', kind: 'Team' })
const Fleet = defineKind<Team>({ apiVersion: 'example.dev/v1', kind: 'Fleet', namespaced: false })
const ref = { name: 'red', namespace: 'default' }

let fixture: ControllerFixture
beforeEach(() => {
  fixture = new ControllerFixture()
  fixture.server.seed(Team, { metadata: ref, spec: { size: 1 } })
})
afterEach(async () => await fixture.end())

const refuseAll: AdoptionCheck = () => new TenureError('TENURE_TEST', 'taken', { fate: 'terminal' })

/** Runs a controller that always plans the same actions, until it is idle or has failed. */
async function act(actions: Actions<Team>, options: Partial<ControllerOptions<Team>> = {}): Promise<unknown> {
  await fixture.start(controller(Team, { owns: [ConfigMap], plan: () => actions, ...options }))
  await fixture.clock.advance(1)
  const failure = fixture.linesAt('error')[0]?.['error']
  if (failure === undefined) await fixture.settle()
  return failure
}

describe('create', () => {
  const made = create(ConfigMap, { metadata: { name: 'made' }, data: { a: '1' } })
  const at = { name: 'made', namespace: 'default' }

  test('create makes an owned object once and leaves an existing one unchanged', async () => {
    expect(await act([made])).toBeUndefined()
    expect(fixture.writes).toEqual(['create configmaps/'])
    expect(fixture.server.peek(ConfigMap, at)?.metadata.ownerReferences?.[0]).toMatchObject({
      kind: 'Team',
      name: 'red',
    })
    fixture.server.seed(ConfigMap, { metadata: at, data: { a: 'changed' } })
    await fixture.settle()
    expect(fixture.server.peek(ConfigMap, at)?.data).toEqual({ a: 'changed' })
    expect(fixture.writes).toHaveLength(1)
  })

  test('a create whose response was lost finds its object and continues', async () => {
    fixture.server.holdWatches()
    const stop = fixture.server.intercept(({ verb }) => {
      if (verb !== 'create') return undefined
      stop()
      return 'drop-response'
    })
    const running = act([made, status({ size: 1 })])
    await fixture.clock.advance(1)
    // The caches are filled, and receive nothing more for a while.
    fixture.server.releaseWatches()
    await fixture.clock.advance(0)
    fixture.server.holdWatches()
    await running
    await fixture.until(() => fixture.server.peek(Team, ref)?.status?.size === 1)
    expect(fixture.server.objects(ConfigMap)).toHaveLength(1)
    expect(fixture.linesAt('error')).toEqual([])
  })

  test('a create under a name of another owner is a terminal error', async () => {
    const owner = { apiVersion: 'x/v1', kind: 'Other', name: 'them', uid: 'other', controller: true }
    // The object appears between the cache read and the request.
    const stop = fixture.server.intercept(({ verb }) => {
      if (verb !== 'create') return undefined
      stop()
      fixture.server.seed(ConfigMap, { metadata: { ...at, ownerReferences: [owner] } })
      return undefined
    })
    expect(await act([made])).toMatchObject({
      code: 'TENURE_OWNED_BY_ANOTHER',
      fate: 'terminal',
      message: expect.stringContaining('ConfigMap default/made already belongs to Other them'),
    })
  })

  test('an event that belongs to a creation is recorded only by the action that created the object', async () => {
    const afterwards = [event({ type: 'Normal', reason: 'Created', message: 'made' })]
    const both = create(ConfigMap, { metadata: { name: 'made' } }, { afterwards })
    expect(await act([both, both])).toBeUndefined()
    expect(fixture.events).toMatchObject([{ reason: 'Created' }])
    fixture.server.unseed(ConfigMap, at)
    await fixture.settle()
    expect(fixture.events).toHaveLength(2)
  })

  test.each([
    ['the cache shows', {}],
    ['the selection of the cache excludes', { owns: [{ kind: ConfigMap, selection: { labelSelector: 'ours' } }] }],
    ['no cache shows', { owns: [] }],
  ])('an object of that name that %s fails a create that may not adopt it', async (_, options) => {
    fixture.server.seed(ConfigMap, { metadata: at, data: { theirs: '1' } })
    const asked: unknown[] = []
    const adopt: AdoptionCheck = ({ metadata }) => {
      asked.push(metadata.name)
      return new TenureError('TENURE_TEST', `${metadata.name} is taken.`)
    }
    const afterwards = [event({ type: 'Normal', reason: 'Created', message: 'made' })]
    const guarded = create(ConfigMap, { metadata: { name: 'made' } }, { adopt, afterwards })
    expect(await act([guarded, status({ size: 1 })], options)).toMatchObject({ message: 'made is taken.' })
    expect(asked).toEqual(['made'])
    expect(fixture.events).toEqual([])
    expect(fixture.server.peek(ConfigMap, at)).toMatchObject({ data: { theirs: '1' } })
    expect(fixture.server.peek(Team, ref)?.status).toBeUndefined()
  })

  test('an object that a create may adopt stays as it is', async () => {
    fixture.server.seed(ConfigMap, { metadata: at, data: { theirs: '1' } })
    const guarded = create(ConfigMap, { metadata: { name: 'made' } }, { adopt: () => undefined })
    expect(await act([guarded, status({ size: 1 })], { owns: [] })).toBeUndefined()
    expect(fixture.server.peek(ConfigMap, at)?.metadata.ownerReferences).toBeUndefined()
    expect(fixture.server.peek(Team, ref)?.status).toEqual({ size: 1 })
  })

  test('a create does not ask about an object of its own', async () => {
    const guarded = create(ConfigMap, { metadata: { name: 'made' } }, { adopt: () => new Error('asked') })
    // The cache never shows the object, because the selection excludes it.
    const owns = [{ kind: ConfigMap, selection: { labelSelector: 'never' } }]
    expect(await act([guarded, guarded], { owns })).toBeUndefined()
    expect(fixture.calls.slice(0, 3)).toEqual(['create configmaps/', 'create configmaps/', 'get configmaps/made'])
  })

  test('an object is created when the one that had its name is gone', async () => {
    fixture.server.seed(ConfigMap, { metadata: at })
    const guarded = create(ConfigMap, { metadata: { name: 'made' } }, { adopt: refuseAll })
    expect(await act([guarded])).toMatchObject({ message: 'taken' })
    fixture.server.unseed(ConfigMap, at)
    await fixture.settle()
    expect(fixture.server.peek(ConfigMap, at)?.metadata.ownerReferences).toMatchObject([{ name: 'red' }])
  })
})

describe('apply', () => {
  test('an apply into another namespace cannot be owned', async () => {
    expect(await act([apply(ConfigMap, { metadata: { name: 'x', namespace: 'other' } })])).toMatchObject({
      code: 'TENURE_OWNER_NAMESPACE',
    })
    expect(fixture.writes).toEqual([])
  })

  test('an apply of an undeclared kind is rejected', async () => {
    expect(await act([apply(Secret, { metadata: { name: 'x' } })])).toMatchObject({ code: 'TENURE_KIND_UNDECLARED' })
  })

  test('an apply of a watched kind sets no owner and may target any namespace', async () => {
    const unmapped = watch(Secret, () => [])
    await act([apply(Secret, { metadata: { name: 'x', namespace: 'other' } })], { watches: [unmapped] })
    expect(fixture.server.peek(Secret, { name: 'x', namespace: 'other' })?.metadata.ownerReferences).toBeUndefined()
  })

  test('a cluster-scoped owner may have children in any namespace', async () => {
    fixture.server.seed(Fleet, { metadata: { name: 'all' }, spec: { size: 1 } })
    await fixture.start(
      controller(Fleet, {
        owns: [ConfigMap, Namespace],
        plan: () => [
          apply(Namespace, { metadata: { name: 'yard' } }),
          apply(ConfigMap, { metadata: { name: 'x', namespace: 'yard' }, data: { a: '1' } }),
        ],
      }),
    )
    await fixture.settle()
    const at = { name: 'x', namespace: 'yard' }
    expect(fixture.server.peek(ConfigMap, at)?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Fleet' })
    fixture.server.unseed(ConfigMap, at)
    await fixture.settle()
    expect(fixture.server.peek(ConfigMap, at)?.data).toEqual({ a: '1' })
  })

  test('a terminating child is left alone and created again when it is gone', async () => {
    fixture.server.seed(ConfigMap, { metadata: { ...ref, finalizers: ['theirs'] } })
    const wanted = [apply(ConfigMap, { metadata: { name: 'red' }, data: { a: '1' } })]
    await act(wanted)
    const before = fixture.server.peek(ConfigMap, ref)
    const { client } = await fixture.start(controller(Secret, { name: 'bystander', plan: () => [] }))
    await client.delete(ConfigMap, ref)
    fixture.server.seed(ConfigMap, { metadata: ref, data: { a: 'changed' } })
    fixture.server.clearRequests()
    await fixture.settle()
    expect(fixture.writes).toEqual([])
    fixture.server.unseed(ConfigMap, ref)
    await fixture.settle()
    expect(fixture.server.peek(ConfigMap, ref)?.metadata.uid).not.toBe(before?.metadata.uid)
    expect(fixture.server.peek(ConfigMap, ref)?.data).toEqual({ a: '1' })
  })
})

describe('remove', () => {
  test('a remove of an undeclared kind asks the server, and a missing object counts as removed', async () => {
    fixture.server.seed(Secret, { metadata: { name: 'x', namespace: 'default' } })
    expect(await act([remove(Secret, 'x'), status({ size: 1 })])).toBeUndefined()
    expect(fixture.server.objects(Secret)).toEqual([])
    expect(fixture.server.peek(Team, ref)?.status).toEqual({ size: 1 })
  })

  test('a remove of an object that is not cached sends no request', async () => {
    expect(await act([remove(ConfigMap, 'x')])).toBeUndefined()
    expect(fixture.calls).toEqual([])
  })

  test('a remove with ifUnchanged carries the resourceVersion that was read', async () => {
    const seen = fixture.server.seed(ConfigMap, { metadata: { name: 'x', namespace: 'default' } })
    await act([remove(ConfigMap, seen, { ifUnchanged: true, propagation: 'Foreground' })])
    const { uid, resourceVersion } = seen.metadata
    expect(fixture.server.requests.find(({ verb }) => verb === 'delete')?.body).toMatchObject({
      preconditions: { uid, resourceVersion },
      propagationPolicy: 'Foreground',
    })
  })
})

test('whole objects cannot be read of a kind that is cached as metadata', async () => {
  await fixture.start(
    controller(Team, {
      owns: [metadataOf(ConfigMap)],
      plan: ({ owned }) => [owned(ConfigMap, 'x') && status({ size: 1 })],
    }),
  )
  await fixture.until(() => fixture.linesAt('error').length > 0)
  expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({
    code: 'TENURE_KIND_UNDECLARED',
    message: expect.stringContaining('only their metadata'),
  })
})
