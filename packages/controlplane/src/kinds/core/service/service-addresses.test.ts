import type { KubeObject } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { expect, test } from 'vitest'

import { openStorage } from '../../../storage/index.ts'
import { ServiceAddresses } from './service-addresses.ts'

const service = (address: string, nodePort: number): KubeObject =>
  ({
    metadata: { name: 'a', namespace: 'a', uid: 'a', creationTimestamp: 'x' },
    spec: { clusterIP: address, clusterIPs: [address], ports: [{ port: 80, nodePort }] },
  }) as KubeObject

test('every address of a small range is allocated once', () => {
  const addresses = new ServiceAddresses({ random: seededRandom(), clock: new VirtualClock(), range: '10.1.2.0/28' })
  const given = Array.from({ length: 15 }, () => addresses.takeAddress())
  expect(given.pop()).toBeUndefined()
  expect(new Set(given).size).toBe(14)
  expect(given.every((address) => address?.startsWith('10.1.2.'))).toBe(true)
  expect(given).not.toContain('10.1.2.0')
  expect(given).not.toContain('10.1.2.15')
})

test('a reservation without a stored service expires', async () => {
  const clock = new VirtualClock()
  const addresses = new ServiceAddresses({ random: seededRandom(), clock })
  expect(addresses.claimAddress('10.96.0.10')).toBeUndefined()
  expect(addresses.claimAddress('10.96.0.10')).toBe('provided IP is already allocated')
  await clock.advance(60_000)
  expect(addresses.claimAddress('10.96.0.10')).toBeUndefined()
})

test('the addresses of a stored service stay allocated until it is deleted', async () => {
  const clock = new VirtualClock()
  const storage = await openStorage({ clock, log: silentLogger })
  await storage.write('services', 'a/old', () => ({ put: service('10.96.0.1', 30_001) }))
  const addresses = new ServiceAddresses({ random: seededRandom(), clock })
  const end = addresses.follow(storage)
  await storage.write('services', 'a/new', () => ({ put: service('10.96.0.2', 30_002) }))
  await clock.advance(120_000)
  expect(addresses.claimAddress('10.96.0.1')).toBeDefined()
  expect(addresses.claimAddress('10.96.0.2')).toBeDefined()
  expect(addresses.claimPort(30_002)).toBe('provided port is already allocated')
  await storage.write('services', 'a/new', () => ({ remove: true }))
  expect(addresses.claimAddress('10.96.0.2')).toBeUndefined()
  expect(addresses.claimPort(30_002)).toBeUndefined()
  end()
  await storage.close()
})

test('addresses and ports outside the range are rejected', () => {
  const addresses = new ServiceAddresses({ random: seededRandom(), clock: new VirtualClock() })
  expect(addresses.claimAddress('10.112.0.1')).toBe('the provided network does not match the current range')
  expect(addresses.claimPort(80)).toBe(
    'provided port is not in the valid range. The range of valid ports is 30000-32767',
  )
  const port = addresses.takePort() ?? 0
  expect(port).toBeGreaterThanOrEqual(30_000)
  expect(port).toBeLessThanOrEqual(32_767)
})
