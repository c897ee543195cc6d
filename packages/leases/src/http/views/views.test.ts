import { mergePatch } from '@tenure/kube'
import { ConfigMap, Node, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NEWER_FAMILY, SEED_FAMILY } from '../../api/annotations.ts'
import { LeaseController } from '../../api/lease-controller.ts'
import { createKindController } from '../../controllers/lease/kind-controller.ts'
import { LeaseControllerHarness } from '../../testing/lease-controller-harness.ts'
import type { LeaseControllerRow } from './lease-controllers-view.ts'
import type { LeaseRow } from './leases-view.ts'

const SEED = SEED_FAMILY.prefix
const NEWER = NEWER_FAMILY.prefix

let harness: LeaseControllerHarness
beforeEach(async () => {
  harness = await LeaseControllerHarness.create()
})
afterEach(() => harness.stop())

const leaseRows = () => [...harness.view('leases').rows()] as LeaseRow[]
const leaseRow = (id: string) => harness.view('leases').row(id) as LeaseRow | undefined
const controllerRow = (id: string) => harness.view('lease-controllers').row(id) as LeaseControllerRow | undefined

function listen(name: string): { readonly told: string[]; readonly end: () => void } {
  const told: string[] = []
  return { told, end: harness.view(name).subscribe((id) => told.push(id)) }
}

function seedMap(name: string, annotations: Readonly<Record<string, string>> = {}): void {
  harness.server.seed(ConfigMap, { metadata: { name, namespace: 'default', annotations } })
}

async function manage(name: string, kind: string): Promise<void> {
  harness.put(name, { kind })
  await harness.until(() => harness.ready(name) === 'True Running')
}

describe('the view of leases', () => {
  beforeEach(async () => {
    await harness.start({ createController: createKindController })
  })

  test('a leased object is a row with its end, and one without a lease is not', async () => {
    seedMap('short', { [`${SEED}ttl`]: '1h' })
    seedMap('plain', { other: 'x' })
    await manage('maps', 'ConfigMap')
    await harness.until(() => leaseRow('configmaps/default/short')?.expiresAt !== undefined)
    const createdAt = Date.parse(
      harness.server.peek(ConfigMap, { name: 'short', namespace: 'default' })?.metadata.creationTimestamp ?? '',
    )
    expect(leaseRows()).toEqual([
      {
        id: 'configmaps/default/short',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        plural: 'configmaps',
        group: '',
        namespace: 'default',
        name: 'short',
        ttl: '1h',
        leaseStart: createdAt,
        expiresAt: createdAt + 3_600_000,
        status: expect.stringMatching(/^Lease active\. Expires at /),
        createdAt,
      },
    ])
    expect(leaseRow('configmaps/default/plain')).toBeUndefined()
    expect(leaseRow('configmaps/default/missing')).toBeUndefined()
    expect(leaseRow('pods/default/short')).toBeUndefined()
    expect(leaseRow('')).toBeUndefined()
    const [row] = leaseRows()
    expect(row && harness.view('leases').resourceOf(row)).toEqual({ group: '', resource: 'configmaps' })
  })

  test('leases of several kinds and families are shown as their users wrote them', async () => {
    seedMap('until', { [`${NEWER}expires`]: '2026-06-11' })
    seedMap('kept', { [`${SEED}ttl`]: 'forever' })
    seedMap('wrong', { [`${SEED}ttl`]: '1h30' })
    harness.server.seed(Node, { metadata: { name: 'n', annotations: { [`${SEED}ttl`]: '1d' } } })
    const inherited = { [`${SEED}ttl`]: '1h', 'deployment.kubernetes.io/revision': '1' }
    harness.server.seed(ReplicaSet, { metadata: { name: 'web-1', namespace: 'default', annotations: inherited } })
    await manage('maps', 'ConfigMap')
    await manage('nodes', 'Node')
    await manage('sets', 'ReplicaSet')
    await harness.until(() => leaseRows().every(({ status }) => status !== 'Not processed by a lease controller yet.'))
    const rows = new Map(leaseRows().map((row) => [row.name, row]))
    expect([...rows.keys()].toSorted()).toEqual(['kept', 'n', 'until', 'wrong'])
    expect(rows.get('until')).toMatchObject({ ttl: '2026-06-11', expiresAt: Date.UTC(2026, 5, 11) })
    expect(rows.get('kept')).toMatchObject({ ttl: 'forever', status: 'Lease active. Never expires.' })
    expect(rows.get('kept')).not.toHaveProperty('expiresAt')
    expect(rows.get('kept')).not.toHaveProperty('leaseStart')
    expect(rows.get('wrong')).toMatchObject({ ttl: '1h30', status: expect.stringMatching(/^Invalid TTL/) })
    expect(rows.get('n')).toMatchObject({ id: 'nodes//n', ttl: '1d', plural: 'nodes' })
    expect(rows.get('n')).not.toHaveProperty('namespace')
    expect(leaseRow('nodes//n')).toEqual(rows.get('n'))
  })

  test('changes are announced while somebody listens, also of kinds that come and go', async () => {
    await manage('maps', 'ConfigMap')
    seedMap('before', { [`${SEED}ttl`]: '1h' })
    await harness.until(() => leaseRow('configmaps/default/before')?.expiresAt !== undefined)
    const { end, told } = listen('leases')
    expect(told).toEqual([])
    seedMap('plain')
    seedMap('new', { [`${SEED}ttl`]: '1m' })
    await harness.until(() => leaseRow('configmaps/default/new') !== undefined)
    expect(new Set(told)).toEqual(new Set(['configmaps/default/new']))
    // The lease is taken away: the row is gone.
    told.length = 0
    const ref = { name: 'before', namespace: 'default' }
    await harness.client.patch(ConfigMap, ref, mergePatch({ metadata: { annotations: { [`${SEED}ttl`]: null } } }))
    await harness.until(() => leaseRow('configmaps/default/before') === undefined)
    expect(told).toContain('configmaps/default/before')
    // The lease ends: the object is gone.
    await harness.until(() => leaseRow('configmaps/default/new') === undefined)
    expect(told).toContain('configmaps/default/new')
    expect(harness.server.peek(ConfigMap, { name: 'new', namespace: 'default' })).toBeUndefined()
    // A kind that is managed from now on.
    told.length = 0
    harness.server.seed(Node, { metadata: { name: 'n', annotations: { [`${SEED}ttl`]: '1d' } } })
    await manage('nodes', 'Node')
    expect(told).toContain('nodes//n')
    told.length = 0
    harness.server.unseed(LeaseController, { name: 'nodes' })
    await harness.until(() => leaseRow('nodes//n') === undefined)
    expect(told).toEqual(['nodes//n'])
    end()
    told.length = 0
    seedMap('quiet', { [`${SEED}ttl`]: '1h' })
    await harness.until(() => leaseRow('configmaps/default/quiet') !== undefined)
    expect(told).toEqual([])
  })
})

describe('the view of LeaseControllers', () => {
  test('a LeaseController is a row with its target and its state', async () => {
    await harness.start({ createController: createKindController })
    const { end, told } = listen('lease-controllers')
    seedMap('short', { [`${SEED}ttl`]: '1h' })
    await manage('maps', 'ConfigMap')
    expect(told).toContain('maps')
    await harness.until(() => controllerRow('maps')?.objects === 1)
    const creation = harness.server.peek(LeaseController, { name: 'maps' })?.metadata.creationTimestamp ?? ''
    expect([...harness.view('lease-controllers').rows()]).toEqual([controllerRow('maps')])
    expect(controllerRow('maps')).toEqual({
      id: 'maps',
      name: 'maps',
      targetKind: 'ConfigMap',
      targetGroup: '',
      targetVersion: 'v1',
      mode: 'shared',
      ready: true,
      reason: 'Running',
      message: 'The operator manages the leases.',
      objects: 1,
      createdAt: Date.parse(creation),
    })
    harness.put('things', { group: 'example.dev', kind: { singular: 'Thing', plural: 'things' }, version: 'v1' })
    await harness.until(() => controllerRow('things')?.reason === 'KindNotServed')
    expect(controllerRow('things')).toMatchObject({
      targetKind: 'things',
      targetGroup: 'example.dev',
      targetVersion: 'v1',
      ready: false,
      message: expect.stringContaining('does not serve'),
    })
    told.length = 0
    harness.server.unseed(LeaseController, { name: 'things' })
    await harness.until(() => controllerRow('things') === undefined)
    expect(told).toContain('things')
    end()
  })

  test('a replica that does not lead shows LeaseControllers, and no leases', async () => {
    harness.put('maps', { kind: 'ConfigMap' })
    seedMap('short', { [`${SEED}ttl`]: '1h' })
    await harness.start()
    await harness.until(() => controllerRow('maps') !== undefined)
    // Fake controllers have no caches, as those of another process.
    expect(leaseRows()).toEqual([])
  })
})
