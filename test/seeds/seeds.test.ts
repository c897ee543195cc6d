import type { Application } from '@tenure/applications'
import { afterEach, describe, expect, test } from 'vitest'
import { controller, production } from './commands.ts'
import { hasTools, POLL_OPTIONS, Terminal } from './terminal.ts'

interface Events {
  readonly events: readonly { readonly reason: string; readonly involvedObject: { readonly name: string } }[]
}
interface Leadership {
  readonly isLeader: boolean
  readonly identity: string
  readonly lease: { readonly holderIdentity: string; readonly leaseDuration: number; readonly renewTime: string }
}
interface Frame {
  readonly type: string
  readonly object: Application
}

let terminal: Terminal
const ready = (reason = 'ReconciliationSucceeded') =>
  expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True', reason })])

afterEach(() => terminal.close())

/** Parses the events that a reader of `/watch` has received so far. */
const frames = (output: string): readonly Frame[] =>
  [...output.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as Frame)

async function phaseOf(get: string): Promise<string | undefined> {
  return (await terminal.ask<Application>(get)).status?.phase
}

// Without bash and curl the documents cannot be followed, and the title of the skipped block says so.
describe.skipIf(!hasTools)('the commands of the seed documents (skipped without bash and curl)', () => {
  test('every command of "Kubernetes Controller" works', { timeout: 300_000 }, async () => {
    terminal = new Terminal()
    await terminal.startTenure(controller.start)
    const watch = await terminal.start(controller.watch)
    await expect.poll(() => watch.output, POLL_OPTIONS).toContain('% Total')

    expect(await terminal.ask(controller.create)).toMatchObject({
      apiVersion: 'cloudnative.elide.dev/v1',
      kind: 'Application',
      metadata: { name: 'my-app', namespace: 'default', generation: 1, uid: expect.any(String) },
      spec: { replicas: 3, image: 'nginx:latest', strategy: 'RollingUpdate' },
    })
    await expect.poll(() => phaseOf(controller.get), POLL_OPTIONS).toBe('Running')
    expect(await terminal.ask(controller.get)).toMatchObject({
      status: { observedGeneration: 1, replicas: 3, readyReplicas: 3, phase: 'Running', conditions: ready() },
    })

    expect(await terminal.ask(controller.update)).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } })
    await expect
      .poll(async () => (await terminal.ask<Application>(controller.get)).status, POLL_OPTIONS)
      .toMatchObject({ observedGeneration: 2, readyReplicas: 5, phase: 'Running' })

    expect(await terminal.ask(controller.remove)).toEqual({ status: 'Success' })
    await expect.poll(() => terminal.ask(controller.get), POLL_OPTIONS).toEqual({ error: 'Resource not found' })
    await expect.poll(() => frames(watch.output).map(({ type }) => type), POLL_OPTIONS).toContain('DELETED')
    const seen = frames(watch.output)
    expect(seen[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'my-app' } } })
    expect(seen.filter(({ type }) => type === 'MODIFIED').map(({ object }) => object.spec.replicas)).toContain(5)

    expect(await terminal.ask(controller.createTest)).toMatchObject({
      metadata: { name: 'test-app', namespace: 'test' },
    })
    await expect.poll(() => phaseOf(controller.getTest), POLL_OPTIONS).toBe('Running')
    const { events } = await terminal.ask<Events>(controller.events)
    const reasons = (name: string): readonly string[] =>
      events.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason)
    expect(reasons('my-app')).toEqual(
      expect.arrayContaining(['Created', 'Updated', 'Deleted', 'Reconciling', 'Reconciled']),
    )
    expect(reasons('test-app')).toContain('Created')
  })

  test('the controller serves its second port', { timeout: 300_000 }, async () => {
    terminal = new Terminal()
    await terminal.startTenure(controller.startElsewhere, 8080)
    expect(await terminal.ask('curl http://localhost:8080/healthz')).toEqual({ status: 'healthy' })
  })

  test('every command of "Production Kubernetes Operator" works', { timeout: 300_000 }, async () => {
    terminal = new Terminal()
    await terminal.startTenure(production.start)
    const watch = await terminal.start(production.watch)
    await expect.poll(() => watch.output, POLL_OPTIONS).toContain('% Total')

    expect(await terminal.ask(production.create)).toMatchObject({ metadata: { name: 'my-app' } })
    await expect.poll(() => phaseOf(production.get), POLL_OPTIONS).toBe('Running')
    expect(await terminal.ask(production.update)).toMatchObject({ spec: { replicas: 5 } })
    await expect.poll(() => frames(watch.output).at(-1)?.object.status?.readyReplicas, POLL_OPTIONS).toBe(5)
    expect(await terminal.ask<Events>(production.events)).toMatchObject({ events: expect.any(Array) })

    expect(await terminal.ask(production.healthz)).toEqual({ status: 'healthy' })
    await expect.poll(() => terminal.ask<Leadership>(production.leader), POLL_OPTIONS).toMatchObject({ isLeader: true })
    const { identity, lease } = await terminal.ask<Leadership>(production.leader)
    expect(lease).toMatchObject({ holderIdentity: identity, leaseDuration: 15_000 })
    expect(await terminal.ask(production.readyz)).toMatchObject({ status: 'ready', isLeader: true, leader: identity })

    const metrics = await terminal.type(production.metrics)
    for (const name of [
      'controller_reconcile_total',
      'controller_reconcile_duration_seconds',
      'resource_count',
      'event_total',
      'webhook_requests_total',
      'leader_election_status',
      'workqueue_depth',
    ]) {
      expect(metrics).toMatch(new RegExp(`^${name}(_bucket)?[ {]`, 'm'))
    }

    expect(await terminal.ask(production.remove)).toEqual({ status: 'Success' })
    await expect.poll(() => terminal.ask(production.get), POLL_OPTIONS).toEqual({ error: 'Resource not found' })

    expect(await terminal.ask(production.validate)).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: 'test-123',
        allowed: true,
        warnings: [
          'Resource limits are recommended for production workloads',
          'Using :latest tag is not recommended for production',
        ],
      },
    })

    expect(await terminal.ask(production.createTest)).toMatchObject({ metadata: { namespace: 'test' } })
    await expect.poll(() => phaseOf(production.getTest), POLL_OPTIONS).toBe('Running')
    expect(await terminal.type(production.reconcileMetrics)).toMatch(
      /^controller_reconcile_total\{.*controller="application-controller".*\} [1-9]/m,
    )
    expect(await terminal.ask(production.tooManyReplicas)).toEqual({
      error: 'Validation failed',
      details: [{ field: 'spec.replicas', message: 'Value must be at most 100', value: 150 }],
    })
    expect(await terminal.ask(production.noImage)).toEqual({
      error: 'Validation failed',
      details: [{ field: 'spec.image', message: 'Required field is missing' }],
    })
  })

  test('the operator reads the documented settings', { timeout: 300_000 }, async () => {
    terminal = new Terminal()
    const alone = await terminal.startTenure(production.startAlone)
    expect(await terminal.ask(production.readyz)).toMatchObject({ status: 'ready', isLeader: true })
    await alone.end()
    await terminal.startTenure(production.startNamed)
    await expect
      .poll(() => terminal.ask<Leadership>(production.leader), POLL_OPTIONS)
      .toMatchObject({ identity: 'operator-1' })
  })

  test('of two instances one leads, and the other takes over', { timeout: 300_000 }, async () => {
    terminal = new Terminal()
    // Both start at once, as in the document; they decide between themselves which one hosts, joins and leads.
    const first = { start: production.startFirst, port: 3001, leader: production.leaderOfFirst, name: 'operator-1' }
    const second = { start: production.startSecond, port: 3002, leader: production.leaderOfSecond, name: 'operator-2' }
    const instances = await Promise.all(
      [first, second].map(async (each) => ({ ...each, job: await terminal.startTenure(each.start, each.port) })),
    )
    const askAll = () => Promise.all(instances.map(({ leader }) => terminal.ask<Leadership>(leader)))
    let answers: readonly Leadership[] = []
    // An instance reports the other's election with a delay of up to half a second.
    const leaders = async (): Promise<unknown> => {
      answers = await askAll()
      return [answers.filter(({ isLeader }) => isLeader).length, new Set(answers.map(({ identity }) => identity)).size]
    }
    await expect.poll(leaders, POLL_OPTIONS).toEqual([1, 1])
    const [leader, follower] = answers[0]?.isLeader ? instances : instances.toReversed()
    if (!leader || !follower) throw new Error('Expected one leader and one follower')
    expect(answers[0]?.identity).toBe(leader.name)

    await leader.job.end('SIGKILL')
    await expect
      .poll(() => terminal.ask<Leadership>(follower.leader), POLL_OPTIONS)
      .toMatchObject({ isLeader: true, identity: follower.name })
  })
})
