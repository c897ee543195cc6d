import { readConfiguration } from '@tenure/runtime/configuration'
import { describe, expect, test } from 'vitest'
import { leaseFamily, SEED_FAMILY } from './api/annotations.ts'
import { defaultLeaseSettings } from './api/types.ts'
import { familyFlags, leaderName, leaseFamilies, leasesConfiguration, leaseSettings } from './config.ts'

async function read(argv: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const loaded = await readConfiguration(leasesConfiguration, { argv, environment })
  if (loaded.kind !== 'values') throw new Error('help was asked for')
  return loaded.values
}

describe('tenure leases', () => {
  test('the flags of the original are accepted', async () => {
    const values = await read([
      '--group',
      'apps',
      '--version',
      'v1',
      '--kind',
      'Deployment',
      '--leader-elect',
      '--leader-elect-namespace',
      'ops',
      '--opt-in-label-key',
      'leases',
      '--opt-in-label-value',
      'on',
    ])
    expect(values).toMatchObject({ group: 'apps', version: 'v1', kind: 'Deployment' })
    expect(leaderName(values)).toBe('object-lease-controller-apps-v1-deployment')
    expect(values).toMatchObject({
      enableLeaderElection: true,
      leaderElectionNamespace: 'ops',
      metricsBindAddress: ':8080',
      healthProbeBindAddress: ':8081',
    })
    expect(leaseSettings(values)).toEqual({ ...defaultLeaseSettings, optIn: { key: 'leases', value: 'on' } })
  })

  test('the environment of the original is accepted', async () => {
    const values = await read([], {
      LEASE_GVK_VERSION: 'v1',
      LEASE_GVK_KIND: 'Pod',
      LEASE_LEADER_ELECTION: 'true',
      LEASE_LEADER_ELECTION_NAMESPACE: 'ops',
      LEASE_OPT_IN_LABEL_KEY: 'a',
      LEASE_OPT_IN_LABEL_VALUE: 'b',
    })
    expect(values).toMatchObject({ group: '', kind: 'Pod', enableLeaderElection: true, leaderElectionNamespace: 'ops' })
    expect(leaderName(values)).toBe('object-lease-controller-v1-pod')
    expect(leaseSettings(values)).toEqual({ ...defaultLeaseSettings, optIn: { key: 'a', value: 'b' } })
  })

  test.each([
    [['--opt-in-label-key', 'a'], { key: 'a', value: undefined }],
    [['--opt-in-label-key', 'a', '--opt-in-label-value='], { key: 'a', value: '' }],
    [['--opt-in-label-key=', '--opt-in-label-value='], undefined],
  ])('the arguments %j opt in %j', async (argv, optIn) => {
    expect(leaseSettings(await read(['--version', 'v1', '--kind', 'Pod', ...argv])).optIn).toEqual(optIn)
  })

  test.each(['', '/', 'Upper.example', 'a.example/b', 'two words/'])('a prefix %j is refused', (prefix) => {
    expect(() => leaseFamilies({ prefix, newerPrefix: 'b.example/' })).toThrow(/--prefix must be a DNS name/)
    expect(() => leaseFamilies({ prefix: 'b.example', newerPrefix: prefix })).toThrow(
      /--newer-prefix must be a DNS name/,
    )
  })

  test.each([
    ['a b', undefined],
    ['!protected', undefined],
    ['a,b', undefined],
    ['a in (b)', undefined],
    ['a/b/c', undefined],
    ['a', 'x,y'],
    ['a', '-'],
  ])('a label %j=%j is refused', async (key, value) => {
    const values = await read(['--version', 'v1', '--kind', 'Pod', `--opt-in-label-key=${key}`])
    expect(() => leaseSettings({ ...values, optInLabelValue: value })).toThrow(/^tenure leases cannot start: .* label/)
  })

  test.each([[[]], [['--opt-in-label-key=']]])('a label value without a key is refused: %j', async (argv) => {
    const values = await read(['--version', 'v1', '--kind', 'Pod', '--opt-in-label-value', 'on', ...argv])
    expect(() => leaseSettings(values)).toThrow(/--opt-in-label-value needs --opt-in-label-key/)
  })

  test('other prefixes are read, and equal ones disable the newer family', async () => {
    const gvk = ['--version', 'v1', '--kind', 'Pod']
    const two = leaseSettings(await read([...gvk, '--prefix', 'a.example', '--newer-prefix', 'b.example/']))
    expect(two.families).toEqual([leaseFamily('a.example/', 'extended-at'), leaseFamily('b.example/', 'lease-start')])
    expect(two.families[0]?.names).toMatchObject({ ttl: 'a.example/ttl', start: 'a.example/extended-at' })
    const one = leaseSettings(await read([...gvk, '--prefix', 'a.example/', '--newer-prefix', 'a.example']))
    expect(one.families).toEqual([leaseFamily('a.example/', 'extended-at')])
  })

  test.each([
    [[], []],
    [['--prefix=a.example/'], ['--prefix=a.example/']],
    [['--newer-prefix=b.example/'], ['--newer-prefix=b.example/']],
    [
      ['--prefix=a.example/', '--newer-prefix=a.example'],
      ['--prefix=a.example/', '--newer-prefix=a.example/'],
    ],
    [['--newer-prefix', SEED_FAMILY.prefix], [`--newer-prefix=${SEED_FAMILY.prefix}`]],
  ])('the arguments %j become the flags %j', async (argv, flags) => {
    const gvk = ['--version', 'v1', '--kind', 'Pod']
    const { families } = leaseSettings(await read([...gvk, ...argv]))
    expect(familyFlags(families)).toEqual(flags)
    expect(leaseSettings(await read([...gvk, ...flags])).families).toEqual(families)
  })

  test('a kind is required', async () => {
    await expect(read([])).rejects.toThrow(/--version is required[\s\S]*--kind is required/)
  })
})
