import { type Clock, RestMapper } from '@tenure/kube'
import { ConfigMap, Deployment, Node, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { NEWER_FAMILY, SEED_FAMILY } from '../api/annotations.ts'
import { LeaseController, type LeaseControllerSpec } from '../api/lease-controller.ts'
import { LeaseControllerHarness } from '../testing/lease-controller-harness.ts'
import { deploymentSpec, podSpec } from '../testing/objects.ts'
import { leaseCommands } from './commands.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'

const SEED = SEED_FAMILY.prefix
const NEWER = NEWER_FAMILY.prefix

let harness: LeaseControllerHarness
let written: string[]
let warned: string[]
let context: LeaseCliContext

beforeEach(async () => {
  harness = await LeaseControllerHarness.create()
  await harness.clock.advance(250)
  manage('pods', 'Pod')
  manage('deployments', 'Deployment')
  written = []
  warned = []
  context = {
    api: harness.client,
    kinds: new RestMapper(harness.client.requester),
    clock: harness.clock,
    namespace: 'default',
    write: (text) => void written.push(text),
    warn: (text) => void warned.push(text),
  }
})

/** Lets a LeaseController manage a kind. */
function manage(name: string, kind: string, more: Partial<LeaseControllerSpec> = {}): void {
  harness.server.seed(LeaseController, { metadata: { name }, spec: { kind, ...more } })
}

async function run(name: string, args: readonly string[], options: LeaseCliOptions = {}): Promise<number> {
  const command = leaseCommands.find((candidate) => candidate.name === name)
  if (!command) throw new Error(`no command ${name}`)
  return await command.run(context, args, options)
}

function pod(name: string, annotations: Readonly<Record<string, string>>, namespace = 'default'): void {
  harness.server.seed(Pod, { metadata: { name, namespace, annotations }, spec: podSpec })
}

const annotationsOf = (name: string): Readonly<Record<string, string>> | undefined =>
  harness.server.peek(Pod, { name, namespace: 'default' })?.metadata.annotations

function dated(ttl: string, expireAt: string): Readonly<Record<string, string>> {
  return {
    [`${SEED}ttl`]: ttl,
    [`${SEED}extended-at`]: '2026-01-01T00:00:00Z',
    [`${SEED}expire-at`]: expireAt,
    [`${SEED}lease-status`]: `Lease active. Expires at ${expireAt} UTC.`,
  }
}

/** The requests besides discovery, as `namespace/plural`. */
const listed = (): readonly string[] =>
  harness.server.requests.filter(({ plural }) => plural !== '').map(({ plural, namespace }) => `${namespace}/${plural}`)

describe('list', () => {
  beforeEach(() => {
    pod('late', dated('2d', '2026-01-03T00:00:00Z'))
    pod('soon', dated('90m', '2026-01-01T01:30:00Z'))
    pod('wrong', { [`${SEED}ttl`]: '1h30', [`${SEED}lease-status`]: 'Invalid TTL: 30 has no unit' })
    pod('unleased', { other: 'x' })
    pod('elsewhere', dated('1h', '2026-01-01T01:00:00Z'), 'other')
    harness.server.seed(Deployment, {
      metadata: { name: 'web', namespace: 'default', annotations: { [`${NEWER}expires`]: '2026-01-02' } },
    })
    harness.server.seed(Node, { metadata: { name: 'n', annotations: { [`${SEED}ttl`]: 'forever' } } })
  })

  test('list shows leases of all kinds, soonest expiry first', async () => {
    expect(await run('list', [])).toBe(0)
    expect(written.join('\n')).toBe(
      [
        'EXPIRES    AT                    KIND        NAMESPACE  NAME   LEASE       STATUS',
        'in 1h29m   2026-01-01T01:30:00Z  Pod         default    soon   90m         Active.',
        'in 23h59m  2026-01-02T00:00:00Z  Deployment  default    web    2026-01-02  Not processed by a lease controller yet.',
        'in 1d23h   2026-01-03T00:00:00Z  Pod         default    late   2d          Active.',
        '-          -                     Pod         default    wrong  1h30        Invalid TTL: 30 has no unit',
      ].join('\n'),
    )
    expect(warned).toEqual([])
  })

  test('list of all namespaces includes cluster-scoped kinds, as JSON', async () => {
    await run('list', [], { allNamespaces: true, output: 'json' })
    const { items } = JSON.parse(written.join('\n')) as { items: readonly { name: string }[] }
    expect(items.map(({ name }) => name)).toEqual(['elsewhere', 'soon', 'web', 'late', 'n', 'wrong'])
    expect(items[0]).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'other',
      name: 'elsewhere',
      lease: '1h',
      expireAt: '2026-01-01T01:00:00Z',
      dated: true,
      status: 'Lease active. Expires at 2026-01-01T01:00:00Z UTC.',
    })
  })

  test('list of one kind and namespace requests nothing else', async () => {
    await run('list', ['pods'], { namespace: 'other' })
    expect(written.join('\n')).toContain('elsewhere')
    expect(listed()).toEqual(['other/pods'])
    // Never a spec.
    expect(harness.server.requests.at(-1)?.headers['accept']).toContain('PartialObjectMetadataList')
  })

  test('list of a named cluster-scoped kind ignores the namespace', async () => {
    await run('list', ['nodes', 'pods'], { namespace: 'other' })
    expect(written.join('\n')).toMatch(/Node +- +n /)
    expect(written.join('\n')).toContain('elsewhere')
    expect(listed().toSorted()).toEqual(['/nodes', 'other/pods'])
  })

  test('list warns about kinds that it may not list, and fails if that is all', async () => {
    const end = harness.server.intercept(({ plural }) =>
      plural === 'configmaps' ? refuse(403, 'Forbidden', 'configmaps is forbidden') : undefined,
    )
    await run('list', [])
    expect(warned).toEqual(['You may not list configmaps: their leases are not shown.'])
    expect(written.join('\n')).toContain('soon')
    await expect(run('list', ['cmx', 'configmaps'])).rejects.toThrow('does not serve cmx')
    await expect(run('list', ['configmap'])).rejects.toThrow('forbidden')
    end()
  })

  test('list removes control characters from annotations', async () => {
    pod('odd', { [`${SEED}ttl`]: '1h\n30m', [`${SEED}lease-status`]: 'Invalid TTL:\u001b[31m red' }, 'odd')
    await run('list', [], { namespace: 'odd' })
    const lines = written.join('\n').split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/ odd +1h 30m +Invalid TTL: \[31m red$/)
  })

  test('list -w shows changes of kinds that have leases or a LeaseController', async () => {
    const end = new AbortController()
    context = { ...context, follow: { signal: end.signal } }
    const running = run('list', [], { watch: true })
    await harness.clock.advance(6_000)
    expect(written.join('\n')).toMatch(/^ADDED +in \S+ .*default +soon /m)
    harness.server.clearRequests()
    pod('new', dated('3d', '2026-01-04T00:00:00Z'))
    await harness.clock.advance(6_000)
    expect(written.at(-1)).toMatch(/^ADDED +in \S+ .*default +new /)
    expect(new Set(listed())).toEqual(new Set(['default/pods', 'default/deployments']))
    end.abort()
    await harness.clock.advance(1)
    expect(await running).toBe(0)
  })

  test('list reports that there are no leases', async () => {
    await run('list', [], { namespace: 'empty' })
    expect([written, warned]).toEqual([[], ['No leases found.']])
    await expect(run('list', [], { output: 'xml' })).rejects.toMatchObject({ code: 'TENURE_LEASE_ARGUMENT' })
  })
})

describe('set', () => {
  test('set gives a TTL that starts now', async () => {
    pod('test', { other: 'x', [`${SEED}expires`]: '2027-01-01' })
    await run('set', ['pod/test', '1h30m'])
    expect(annotationsOf('test')).toEqual({
      other: 'x',
      [`${SEED}ttl`]: '1h30m',
      [`${SEED}extended-at`]: '2026-01-01T00:00:01Z',
    })
    expect(written).toEqual(['pod/test expires at 2026-01-01T01:30:01Z (in 1h30m)'])
  })

  test.each([-7_200_000, 7_200_000])(
    "set starts the lease by the server's clock: the local one is %i ms ahead",
    async (ahead) => {
      pod('test', {})
      const { clock } = harness
      const ours: Clock = {
        now: () => clock.now() + ahead,
        monotonic: () => clock.monotonic(),
        setTimer: (delay, callback) => clock.setTimer(delay, callback),
      }
      context = { ...context, clock: ours }
      await run('set', ['pod/test', '1h'])
      expect(annotationsOf('test')).toMatchObject({
        [`${SEED}extended-at`]: expect.stringMatching(/^2026-01-01T00:00:0[01]Z$/),
      })
      await expect(run('set', ['pod/test', '2025-12-31T23:59:00Z'])).rejects.toThrow('has passed')
      await run('set', ['pod/test', '2026-01-01T00:30:00Z'])
      await run('extend', ['pod/test', '1h'])
      expect(annotationsOf('test')).toMatchObject({
        [`${SEED}expires`]: expect.stringMatching(/^2026-01-01T01:00:0[01]Z$/),
      })
    },
  )

  test('set uses the family that the object uses', async () => {
    pod('test', { [`${NEWER}ttl`]: '1h', [`${NEWER}lease-start`]: '2026-01-01T00:00:00Z' })
    await run('set', ['pods/test', '2026-06-11'])
    expect(annotationsOf('test')).toEqual({ [`${NEWER}expires`]: '2026-06-11T00:00:00Z' })
    await run('set', ['Pod/test', 'forever'])
    expect(annotationsOf('test')).toEqual({ [`${NEWER}ttl`]: 'forever' })
    expect(written.at(-1)).toBe('pod/test never expires')
  })

  test.each([
    ['pod/test', '1h30', 'Invalid TTL: 30 has no unit'],
    ['pod/test', '2025-01-01', 'has passed: pod/test would be deleted now. Choose a later end, or delete it: kubectl'],
    ['pod/test', '0s', '0s ends at once: pod/test would be deleted now. Choose a later end, or delete it: kubectl'],
    ['pod/test', '0.0h', 'kubectl delete pods test -n default'],
    ['pod/test', '999ms', 'ends at once'],
    ['test', '1h', 'is not an object'],
    ['pod/', '1h', 'is not an object'],
    ['thing/test', '1h', 'does not serve thing'],
    ['deployments.v1.apps/test', '1h', 'not found'],
  ])('set refuses %s %s and writes nothing', async (target, ttl, message) => {
    pod('test', {})
    await expect(run('set', [target, ttl])).rejects.toThrow(message)
    expect(harness.writes()).toEqual([])
  })

  test('set says that an object of a kind without a LeaseController stays, and what to apply', async () => {
    harness.server.seed(ConfigMap, { metadata: { name: 'test', namespace: 'default' } })
    await run('set', ['cm/test', '1h'])
    expect(written).toEqual(['configmap/test would expire at 2026-01-01T01:00:01Z (in 1h)'])
    const [warning = ''] = warned
    expect(warning).toMatch(/^But nothing deletes it then: no LeaseController manages configmaps/)
    // The manifest works as it is printed.
    const { status } = await harness.server.transport.request({
      method: 'POST',
      path: '/apis/object-lease-controller.ullberg.us/v1alpha1/leasecontrollers',
      headers: { 'content-type': 'application/yaml' },
      body: warning.slice(warning.indexOf('apiVersion')),
    })
    expect(status).toBe(201)
    await run('extend', ['cm/test', '2h'])
    expect(written.at(-1)).toBe('configmap/test expires at 2026-01-01T02:00:01Z (in 2h)')
    expect(warned).toHaveLength(1)
    await run('set', ['cm/test', 'forever'])
    expect(warned).toHaveLength(1)
  })

  test.each<[Partial<LeaseControllerSpec>, RegExp]>([
    [{ suspend: true }, /^But configmap\/test stays: LeaseController maps is suspended/],
    [{ dryRun: true }, /LeaseController maps has dryRun/],
    [{ optIn: { key: 'leased' } }, /kubectl label namespace default leased=true$/],
    [{ optIn: { key: 'leased', value: 'yes' } }, /kubectl label namespace default leased=yes$/],
  ])('set says that a LeaseController with %j keeps the object', async (spec, warning) => {
    harness.server.seed(ConfigMap, { metadata: { name: 'test', namespace: 'default' } })
    manage('maps', 'ConfigMap', spec)
    await run('set', ['cm/test', '1h'])
    expect(warned).toEqual([expect.stringMatching(warning)])
    manage('others', 'ConfigMap')
    await run('set', ['cm/test', '2h'])
    expect(warned).toHaveLength(1)
  })

  test('set says that a LeaseController that is not available does not delete the object yet', async () => {
    pod('test', {})
    const message = 'Not allowed to delete pods.'
    const condition = {
      type: 'Available',
      status: 'False',
      reason: 'Degraded',
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const
    harness.server.seed(LeaseController, {
      metadata: { name: 'pods' },
      spec: { kind: 'Pod' },
      status: { conditions: [condition] },
    })
    await run('set', ['pod/test', '1h'])
    expect(warned).toEqual([`But pod/test stays: LeaseController pods is not available. ${message}`])
  })

  test('set works without access to LeaseControllers', async () => {
    pod('test', {})
    harness.server.intercept(({ plural }) =>
      plural === 'leasecontrollers' ? refuse(403, 'Forbidden', 'leasecontrollers is forbidden') : undefined,
    )
    await run('set', ['pod/test', '1h'])
    expect(annotationsOf('test')).toMatchObject({ [`${SEED}ttl`]: '1h' })
    expect(warned).toEqual([expect.stringMatching(/^It is unknown whether pod\/test expires/)])
  })

  test('set turns renew-on on and off', async () => {
    pod('test', {})
    await run('set', ['pod/test', '1h'], { renewOn: 'update' })
    expect(annotationsOf('test')).toMatchObject({ [`${SEED}ttl`]: '1h', [`${SEED}renew-on`]: 'update' })
    await run('set', ['pod/test', '2h'])
    expect(annotationsOf('test')).toMatchObject({ [`${SEED}ttl`]: '2h', [`${SEED}renew-on`]: 'update' })
    await run('set', ['pod/test', '2026-06-11'], { renewOn: 'never' })
    expect(annotationsOf('test')).toEqual({ [`${SEED}expires`]: '2026-06-11T00:00:00Z' })
    await expect(run('set', ['pod/test', '1h'], { renewOn: 'always' })).rejects.toThrow('must be update or never')
    await expect(run('set', ['pod/test', '2026-06-11'], { renewOn: 'update' })).rejects.toThrow('needs a duration')
  })

  test('set does not overwrite a concurrent change', async () => {
    pod('test', {})
    let isFirst = true
    harness.server.intercept(({ verb }) => {
      if (verb === 'patch' && isFirst) {
        isFirst = false
        pod('test', { note: 'mine' })
      }
      return undefined
    })
    await run('set', ['pod/test', '1h'])
    expect(annotationsOf('test')).toMatchObject({ note: 'mine', [`${SEED}ttl`]: '1h' })
  })
})

describe('extend', () => {
  const started = { [`${SEED}ttl`]: '2h', [`${SEED}extended-at`]: '2026-01-01T00:00:00Z' }

  test('extend restarts the lease, with its TTL or another', async () => {
    pod('test', started)
    await harness.clock.advance(3_600_000)
    await run('extend', ['pod/test'])
    expect(annotationsOf('test')).toEqual({ ...started, [`${SEED}extended-at`]: '2026-01-01T01:00:01Z' })
    expect(written).toEqual(['pod/test expires at 2026-01-01T03:00:01Z (in 2h)'])
    await run('extend', ['pod/test', '1d'])
    expect(annotationsOf('test')).toMatchObject({ [`${SEED}ttl`]: '1d' })
  })

  test('extend moves a time of expiry', async () => {
    pod('test', { [`${SEED}expires`]: '2026-01-01T02:00:00Z' })
    await run('extend', ['pod/test', '3h'])
    expect(annotationsOf('test')).toEqual({ [`${SEED}expires`]: '2026-01-01T03:00:01Z' })
  })

  test.each<[Readonly<Record<string, string>>, string | undefined, string]>([
    [{}, undefined, 'has no lease to extend'],
    [{ [`${SEED}expires`]: '2026-01-02' }, undefined, 'has a time of expiry and no TTL'],
    [{ [`${SEED}ttl`]: 'forever' }, undefined, 'never expires'],
    [started, '1h', 'To shorten it, use set'],
    [{ [`${SEED}expires`]: '2026-01-02' }, '1h', 'To shorten it, use set'],
    [{ [`${SEED}ttl`]: 'nonsense' }, undefined, 'Invalid TTL'],
    [{ [`${SEED}ttl`]: '0s' }, undefined, '0s ends at once'],
    [{ [`${SEED}ttl`]: '1s', [`${SEED}extended-at`]: '2025-01-01T00:00:00Z' }, '0s', '0s ends at once'],
  ])('extend refuses %j with %s', async (annotations, ttl, message) => {
    pod('test', annotations)
    await expect(run('extend', ttl === undefined ? ['pod/test'] : ['pod/test', ttl])).rejects.toThrow(message)
    expect(harness.writes()).toEqual([])
  })
})

test.each(['set', 'extend'])('%s refuses an object that inherits annotations', async (command) => {
  harness.server.seed(ReplicaSet, {
    metadata: {
      name: 'web-1',
      namespace: 'default',
      annotations: { [`${SEED}ttl`]: '1h', 'deployment.kubernetes.io/revision': '1' },
    },
  })
  await expect(run(command, ['replicaset/web-1', '2h'])).rejects.toThrow(
    /lease controllers ignore them there: set the lease on the owner/,
  )
})

test('clear removes all lease annotations and nothing else', async () => {
  pod('test', {
    other: 'x',
    [`${SEED}ttl`]: '2h',
    [`${SEED}renew-on`]: 'update',
    [`${SEED}expire-at`]: '2026-01-01T02:00:00Z',
    [`${SEED}lease-status`]: 'Lease active.',
    [`${SEED}on-delete-job`]: 'a/b',
    [`${NEWER}ttl`]: '1h',
    [`${NEWER}lease-start`]: '2026-01-01T00:00:00Z',
  })
  await run('clear', ['pod/test'])
  expect(annotationsOf('test')).toEqual({ other: 'x', [`${SEED}on-delete-job`]: 'a/b' })
  await run('clear', ['pod/test'])
  expect(written).toEqual(['pod/test will not expire', 'pod/test has no lease'])
  expect(harness.writes()).toEqual(['patch pods/test'])
})

test.each([
  ['set', '1h'],
  ['extend', '2d'],
  ['clear', ''],
])('%s refuses an object that is being deleted', async (command, ttl) => {
  const metadata = { name: 'test', namespace: 'default', finalizers: ['example.dev/hold'] }
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  harness.server.seed(Pod, {
    metadata: { ...metadata, deletionTimestamp, annotations: { [`${SEED}ttl`]: '1h' } },
    spec: podSpec,
  })
  await expect(run(command, ['pod/test', ttl].filter(Boolean))).rejects.toThrow('is already being deleted')
  expect(harness.writes()).toEqual([])
})

test('kinds and namespaces are named as in kubectl', async () => {
  const metadata = { name: 'web', namespace: 'shop' }
  harness.server.seed(Deployment, { metadata, spec: deploymentSpec })
  harness.server.seed(ConfigMap, { metadata })
  await run('set', ['deployments.apps/web', '1h'], { namespace: 'shop' })
  await run('set', ['deployments.v1.apps/web', '2h'], { namespace: 'shop' })
  expect(written.at(-1)).toBe('deployment.apps/web expires at 2026-01-01T02:00:01Z (in 2h)')
  expect(harness.server.peek(Deployment, metadata)?.metadata.annotations).toMatchObject({ [`${SEED}ttl`]: '2h' })
  expect(harness.server.peek(ConfigMap, metadata)?.metadata.annotations).toBeUndefined()
})

test.each<[string, number, readonly string[]]>([
  ['1h30m', 0, ['1 hour 30 minutes (5400 s).', 'A lease that starts now ends at 2026-01-01T01:30:01Z.']],
  ['1w1d', 0, ['1 week 1 day (691200 s).', 'A lease that starts now ends at 2026-01-09T00:00:01Z.']],
  ['0s', 0, ['no time at all (0 s).', 'A lease that starts now ends at 2026-01-01T00:00:01Z.']],
  ['forever', 0, ['It never expires.']],
  ['2026-01-02', 0, ['A time: the lease ends at 2026-01-02T00:00:00Z (in 23h59m).']],
  ['2025-12-31T23:00:00Z', 0, ['A time: the lease ends at 2025-12-31T23:00:00Z (1h ago).']],
  ['1h30', 1, [expect.stringMatching(/^Refused\. Invalid TTL: 30 has no unit; .*\.$/)]],
  ['', 1, [expect.stringMatching(/^Refused\. Invalid TTL: it is empty/)]],
])('explain %s prints its meaning', async (text, code, lines) => {
  expect(await run('explain', [text])).toBe(code)
  expect(written).toEqual(lines)
  expect(harness.server.requests).toEqual([])
})
