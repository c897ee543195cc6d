import { type KubeObject, Client, type Stored } from '@tenure/kube'
import { ConfigMap, CoreEvent } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { scaledIntOrPercent } from './int-or-percent.ts'
import { CoreEventRecorder } from './core-events.ts'
import { shortHash } from './hash.ts'
import { canonicalJson } from './hash.ts'
import { slowStart } from './slow-start.ts'
import { TestControlPlane } from '../../testing/test-control-plane.ts'

test('canonical JSON has sorted keys and no undefined fields', () => {
  expect(canonicalJson({ b: 1, a: { d: 1, c: undefined } })).toBe('{"a":{"d":1},"b":1}')
})

test('equal values have the same hash, and a collision changes it', () => {
  const hash = shortHash({ b: 1, a: 2 })
  expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
  expect(shortHash({ a: 2, b: 1 })).toBe(hash)
  expect(shortHash({ a: 2, b: 1 }, 1)).not.toBe(hash)
})

test('percentages scale to the total and round in the given direction', () => {
  expect([
    scaledIntOrPercent('25%', 3, 'up'),
    scaledIntOrPercent('25%', 3, 'down'),
    scaledIntOrPercent(2, 3, 'up'),
    scaledIntOrPercent('x', 3, 'up'),
  ]).toEqual([1, 0, 2, 0])
})

test('slow start stops after the first batch with a failure', async () => {
  let calls = 0
  const failing = await slowStart(100, () => {
    calls++
    return calls > 3 ? Promise.reject(new Error('full')) : Promise.resolve()
  })
  expect([calls, failing.done]).toEqual([7, 3])
  calls = 0
  expect(await slowStart(10, () => Promise.resolve(calls++))).toEqual({ done: 10 })
  expect(calls).toBe(10)
})

test('repeated Events increase the count, and the number of Events per object is bounded', async () => {
  const clock = new VirtualClock()
  const server = await TestControlPlane.start({ clock })
  const api = new Client({ transport: server.transport, clock, random: seededRandom(1), retry: { attempts: 1 } })
  const events = new CoreEventRecorder({ api, clock, random: seededRandom(2), component: 'test' })
  const object: Stored<KubeObject> = server.seed(ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'x' },
  })
  const all = (): readonly string[] => server.objects(CoreEvent).map(({ count, message }) => `${message} ${count}`)
  events.record(object, 'Normal', 'Scaled', 'from 1 to 2')
  await clock.advance(1_000)
  events.record(object, 'Normal', 'Scaled', 'from 1 to 2')
  events.record(object, 'Normal', 'Scaled', 'from 2 to 3')
  await clock.advance(1_000)
  expect(all()).toEqual(['from 1 to 2 2', 'from 2 to 3 1'])
  expect(server.objects(CoreEvent)[0]).toMatchObject({
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:01Z',
    source: { component: 'test' },
    involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'x' },
  })
  for (let index = 0; index < 100; index++) events.record(object, 'Normal', 'Noise', String(index))
  await clock.advance(1_000)
  expect(all().length).toBe(24)
  await clock.advance(300_000)
  events.record(object, 'Normal', 'Later', 'again')
  await clock.advance(1_000)
  expect(all()).toContain('again 1')
  events.close()
  events.record(object, 'Normal', 'Late', 'too late')
  expect(events.pending).toBe(0)
  await server.stop()
  expect(clock.pending).toBe(0)
})
