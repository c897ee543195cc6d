import { defineKind, TenureError } from '@tenure/kube'
import { ConfigMap, Secret } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { apply, type AdoptionCheck, create } from '../actions/index.ts'
import { refuse } from '../testing/responses.ts'
import { ControllerFixture } from './fixture.testing.ts'
import { controller } from './index.ts'

const Team = defineKind({ apiVersion: 'example.dev/v1', kind: 'Team' })
const ref = { name: 'red', namespace: 'default' }

let fixture: ControllerFixture
beforeEach(() => {
  fixture = new ControllerFixture()
  fixture.server.seed(Team, { metadata: ref })
})
afterEach(async () => await fixture.end())

const selection = { labelSelector: 'managed=yes' }
const refuseAll: AdoptionCheck = ({ metadata }) => new TenureError('TENURE_TEST', `${metadata.name} is taken.`)

const describeFailure = (): TenureError => new TenureError('TENURE_TEST', 'Secret first is refused.')

function start(adopt: AdoptionCheck) {
  const labels = { managed: 'yes' }
  return fixture.start(
    controller(Team, {
      owns: [ConfigMap, Secret].map((kind) => ({ kind, selection })),
      plan: () => [
        apply(Secret, { metadata: { name: 'first', labels } }, { adopt }),
        apply(ConfigMap, { metadata: { name: 'second', labels } }, { adopt }),
      ],
    }),
  )
}

test('children are created if no object has their names', async () => {
  await start(refuseAll)
  await fixture.settle()
  expect(fixture.calls).toEqual([
    'get secrets/first',
    'get configmaps/second',
    'apply secrets/first',
    'apply configmaps/second',
  ])
})

test('nothing is created if the name of the last child is taken', async () => {
  fixture.server.seed(ConfigMap, { metadata: { name: 'second', namespace: 'default' }, data: { theirs: '1' } })
  await start(refuseAll)
  await fixture.until(() => fixture.linesAt('error').length > 0)
  expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({ message: 'second is taken.' })
  expect(fixture.writes).toEqual([])
})

test('an object that may be adopted is taken over', async () => {
  fixture.server.seed(ConfigMap, { metadata: { name: 'second', namespace: 'default' }, data: { theirs: '1' } })
  await start(() => undefined)
  await fixture.settle()
  const { metadata } = fixture.server.peek(ConfigMap, { name: 'second', namespace: 'default' }) ?? {}
  expect(metadata?.ownerReferences?.[0]).toMatchObject({ kind: 'Team', name: 'red' })
})

test('the failure of a creation can be described without the message of the API server, which quotes the object', async () => {
  fixture.server.intercept(({ verb }) => (verb === 'create' ? refuse(422, 'Invalid', 'hunter2 is invalid') : undefined))
  await fixture.start(
    controller(Team, {
      owns: [Secret],
      plan: () => [create(Secret, { metadata: { name: 'first' } }, { describeFailure })],
    }),
  )
  await fixture.until(() => fixture.linesAt('error').length > 0)
  expect(fixture.linesAt('error')[0]?.['error']).toMatchObject({ message: 'Secret first is refused.' })
  expect(JSON.stringify(fixture.linesAt('error'))).not.toContain('hunter')
})
