import { defineKind, type KubeObject } from '@tenure/kube'
import { ConfigMap, Secret } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { apply, call, create, remove, status } from '../actions/index.ts'
import { controller } from './index.ts'
import { World } from './fixture.testing.ts'

interface Box extends KubeObject {
  readonly spec: { readonly text: string }
  readonly status?: { readonly done: boolean }
}
const Box = defineKind<Box>({ apiVersion: 'example.dev/v1', kind: 'Box' })
const ref = { name: 'box', namespace: 'default' }

/** One of every kind of step, with an effect outside that notes who has it. */
function boxes(outside: Set<string>) {
  return controller(Box, {
    owns: [ConfigMap, Secret],
    finalizer: 'example.dev/outside',
    plan: ({ object, read }) => [
      call('register', () => void outside.add(object.metadata.name)),
      apply(ConfigMap, { metadata: { name: 'box' }, data: { text: object.spec.text } }),
      create(Secret, { metadata: { name: 'box-key' }, stringData: { key: 'k' } }),
      read(ConfigMap, 'box-old') && remove(ConfigMap, 'box-old'),
      status({ done: true }),
    ],
    cleanup: ({ object }) => [
      remove(Secret, 'box-key'),
      call('unregister', () => void outside.delete(object.metadata.name)),
    ],
  })
}

/** Runs the life of a Box; the process dies at its `crashAt`-th step and another takes over. Gives false if it had no such step. */
async function live(crashAt: number): Promise<boolean> {
  const world = new World()
  const outside = new Set<string>()
  world.server.seed(ConfigMap, { metadata: { name: 'box-old', namespace: 'default' } })
  world.server.seed(Box, { metadata: ref, spec: { text: 'hello' } })
  let steps = 0
  let isDead = false
  const first = await world.start(boxes(outside), {
    onStep: () => {
      if (++steps !== crashAt) return
      isDead = true
      first.kill()
      throw new Error('the process died')
    },
  })
  const takeOver = async (): Promise<void> => void (await world.start(boxes(outside)))
  const isUp = (): boolean => world.server.peek(Box, ref)?.status?.done === true
  await world.until(() => isDead || isUp(), 'the first process')
  if (isDead) await takeOver()
  await world.until(isUp, 'the status')
  await world.settle()
  const hadCrashed = isDead
  expect(world.server.peek(ConfigMap, ref)?.data).toEqual({ text: 'hello' })
  expect(world.server.peek(ConfigMap, { ...ref, name: 'box-old' })).toBeUndefined()
  expect(world.server.objects(Secret)).toHaveLength(1)
  expect(world.server.peek(Box, ref)?.metadata.finalizers).toEqual(['example.dev/outside'])
  expect([...outside]).toEqual(['box'])

  const box = world.server.peek(Box, ref)
  const client = (await world.start(controller(Secret, { name: 'bystander', plan: () => [] }))).client
  await client.delete(Box, ref, { preconditions: { uid: box?.metadata.uid } })
  await world.until(() => (isDead && !hadCrashed) || world.server.peek(Box, ref) === undefined, 'the deletion')
  if (isDead && !hadCrashed) await takeOver()
  await world.until(() => world.server.peek(Box, ref) === undefined, 'the end')
  expect([...outside]).toEqual([])
  expect(world.server.objects(Secret)).toEqual([])
  await world.end()
  return isDead
}

test('a crash before or after any step leaves nothing that the next process does not put right', async () => {
  let crashes = 0
  while (await live(crashes + 1)) crashes++
  // Before and after each: finalizer, call, apply, create, remove, status; a second look; remove, call, finalizer.
  expect(crashes).toBeGreaterThanOrEqual(18)
})
