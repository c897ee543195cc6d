import { defineKind, type KubeObject } from '@tenure/kube'
import { ConfigMap, Secret } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { apply, call, create, remove, status } from '../actions/index.ts'
import { controller } from './index.ts'
import { ControllerFixture } from './fixture.testing.ts'

interface Box extends KubeObject {
  readonly spec: { readonly text: string }
  readonly status?: { readonly done: boolean }
}
const Box = defineKind<Box>({ apiVersion: 'example.dev/v1', kind: 'Box' })
const ref = { name: 'box', namespace: 'default' }

/** One step of every type, with an external effect that records its object. */
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

/**
 * Runs the life of a Box; the process dies at step `crashAt` and another takes over. False if there is no such step.
 */
async function live(crashAt: number): Promise<boolean> {
  const fixture = new ControllerFixture()
  const outside = new Set<string>()
  fixture.server.seed(ConfigMap, { metadata: { name: 'box-old', namespace: 'default' } })
  fixture.server.seed(Box, { metadata: ref, spec: { text: 'hello' } })
  let steps = 0
  let isDead = false
  const first = await fixture.start(boxes(outside), {
    onStep: () => {
      if (++steps !== crashAt) return
      isDead = true
      first.kill()
      throw new Error('the process died')
    },
  })
  const takeOver = async (): Promise<void> => void (await fixture.start(boxes(outside)))
  const isUp = (): boolean => fixture.server.peek(Box, ref)?.status?.done === true
  await fixture.until(() => isDead || isUp(), 'the first process')
  if (isDead) await takeOver()
  await fixture.until(isUp, 'the status')
  await fixture.settle()
  const hadCrashed = isDead
  expect(fixture.server.peek(ConfigMap, ref)?.data).toEqual({ text: 'hello' })
  expect(fixture.server.peek(ConfigMap, { ...ref, name: 'box-old' })).toBeUndefined()
  expect(fixture.server.objects(Secret)).toHaveLength(1)
  expect(fixture.server.peek(Box, ref)?.metadata.finalizers).toEqual(['example.dev/outside'])
  expect([...outside]).toEqual(['box'])

  const box = fixture.server.peek(Box, ref)
  const client = (await fixture.start(controller(Secret, { name: 'bystander', plan: () => [] }))).client
  await client.delete(Box, ref, { preconditions: { uid: box?.metadata.uid } })
  await fixture.until(() => (isDead && !hadCrashed) || fixture.server.peek(Box, ref) === undefined, 'the deletion')
  if (isDead && !hadCrashed) await takeOver()
  await fixture.until(() => fixture.server.peek(Box, ref) === undefined, 'the end')
  expect([...outside]).toEqual([])
  expect(fixture.server.objects(Secret)).toEqual([])
  await fixture.end()
  return isDead
}

test('the next process repairs the state after a crash before or after any step', async () => {
  let crashes = 0
  while (await live(crashes + 1)) crashes++
  // Before and after each: finalizer, call, apply, create, remove, status; a second reconcile; remove, call, finalizer.
  expect(crashes).toBeGreaterThanOrEqual(18)
})
