import type { KubeObject, Stored } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { Broadcaster } from './broadcaster.ts'
import type { InformerEvent } from '../types.ts'

const added = (name: string): InformerEvent<KubeObject> => ({
  type: 'added',
  initial: false,
  object: {
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
  } satisfies Stored<KubeObject>,
})
const nameOf = (event: InformerEvent<KubeObject>): string => event.object.metadata.name

describe('Broadcaster', () => {
  test('a change made by a handler is delivered to all after the current one', () => {
    const broadcaster = new Broadcaster<KubeObject>(() => undefined)
    const log: string[] = []
    broadcaster.subscribe(
      (event) => {
        log.push(`first ${nameOf(event)}`)
        if (nameOf(event) === 'a') broadcaster.publish([added('nested')])
      },
      () => undefined,
    )
    broadcaster.subscribe(
      (event) => log.push(`second ${nameOf(event)}`),
      () => undefined,
    )
    broadcaster.publish([added('a'), added('b')])
    expect(log).toEqual(['first a', 'second a', 'first b', 'second b', 'first nested', 'second nested'])
  })

  test('a subscriber added during a delivery gets the replay and no duplicates', () => {
    const broadcaster = new Broadcaster<KubeObject>(() => undefined)
    const late: string[] = []
    let subscribed = false
    broadcaster.subscribe(
      () => {
        if (subscribed) return
        subscribed = true
        broadcaster.subscribe(
          (event) => late.push(nameOf(event)),
          // By now the cache holds both.
          (deliver) => {
            deliver(added('a'))
            deliver(added('b'))
          },
        )
      },
      () => undefined,
    )
    broadcaster.publish([added('a'), added('b')])
    broadcaster.publish([added('c')])
    expect(late).toEqual(['a', 'b', 'c'])
  })

  test('an unsubscribed handler gets nothing more, even of the current batch', () => {
    const broadcaster = new Broadcaster<KubeObject>(() => undefined)
    const log: string[] = []
    const end = broadcaster.subscribe(
      (event) => {
        log.push(nameOf(event))
        end()
      },
      () => undefined,
    )
    broadcaster.publish([added('a'), added('b')])
    expect(log).toEqual(['a'])
    expect(broadcaster.subscribers).toBe(0)
  })
})
