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
  test('hands out a change made by a handler after the one it is handling, to all', () => {
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

  test('gives who subscribes in between the replay, and not what the replay held already', () => {
    const broadcaster = new Broadcaster<KubeObject>(() => undefined)
    const late: string[] = []
    let subscribed = false
    broadcaster.subscribe(
      () => {
        if (subscribed) return
        subscribed = true
        broadcaster.subscribe(
          (event) => late.push(nameOf(event)),
          // The cache holds both by now.
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

  test('hands nothing more to who left, even of a batch under way', () => {
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
