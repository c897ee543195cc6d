import { mergePatch } from '@tenure/kube'
import { Job, Pod } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SIMULATE } from '../nodes/simulation.ts'
import { template, ControlPlaneFixture } from '../fixture.testing.ts'
import { printIndexes, readIndexes } from './job-pods.ts'

describe('indexes', () => {
  test('formatted indexes are read back unchanged', () => {
    expect(printIndexes([5, 0, 2, 3, 4, 8, 9])).toBe('0,2-5,8,9')
    expect([...readIndexes('0,2-5,8,9')]).toEqual([0, 2, 3, 4, 5, 8, 9])
    expect(printIndexes(readIndexes(''))).toBe('')
  })
})

const policy = (action: 'FailJob' | 'Ignore', values: readonly number[]): Partial<NonNullable<Job['spec']>> => ({
  podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values } }] },
})

describe('jobs', () => {
  let fixture: ControlPlaneFixture
  beforeEach(async () => {
    fixture = await ControlPlaneFixture.start()
  })
  afterEach(() => fixture.end())

  const create = (
    spec: Partial<NonNullable<Job['spec']>>,
    annotations?: Record<string, string>,
    restartPolicy: 'Never' | 'OnFailure' = 'Never',
  ): Promise<unknown> =>
    fixture.api.create<Job>(Job, {
      metadata: { name: 'once' },
      spec: { template: template('once', 'app', annotations, { restartPolicy }), ...spec },
    })
  const job = (): ReturnType<ControlPlaneFixture['get']> & Promise<Job | undefined> => fixture.get(Job, 'once')
  const condition = async (type: string): Promise<string | undefined> => {
    const found = (await job())?.status?.conditions?.find((each) => each.type === type)
    return found && `${found.status} ${found.reason}: ${found.message}`
  }
  const ends = (type: string): Promise<void> =>
    fixture.until(async () => (await condition(type))?.startsWith('True') ?? false, type, 1_200_000, 200)

  test('a Job runs its completions within its parallelism and counts each pod once', async () => {
    await create({ completions: 5, parallelism: 2 })
    let most = 0
    await fixture.until(async () => {
      most = Math.max(most, (await job())?.status?.active ?? 0)
      return (await condition('Complete')) !== undefined
    }, 'complete')
    expect(most).toBe(2)
    expect(await condition('Complete')).toBe('True CompletionsReached: Reached expected number of succeeded pods')
    const status = (await job())?.status
    expect(status).toMatchObject({ succeeded: 5, ready: 0, terminating: 0, uncountedTerminatedPods: {} })
    expect(status?.active).toBeUndefined()
    expect(status?.completionTime).toBeDefined()
    const pods = await fixture.pods('job-name=once')
    expect(pods.map(({ status: { phase } = {} }) => phase)).toEqual(Array.from({ length: 5 }, () => 'Succeeded'))
    expect(pods.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
    await fixture.settle()
    expect(await fixture.events('once')).toContain('Completed: Job completed')
  })

  test('a FailJob rule fails the Job at once', async () => {
    await create({ backoffLimit: 6, ...policy('FailJob', [41, 42]) }, { [SIMULATE.exitCode]: '42' })
    await ends('Failed')
    const [pod] = await fixture.pods('job-name=once')
    expect(await condition('Failed')).toBe(
      `True PodFailurePolicy: Container main for pod default/${pod?.metadata.name} failed with exit code 42 matching FailJob rule at index 0`,
    )
    expect((await job())?.status?.failed).toBe(1)
  })

  test('an Ignore rule excludes failures from the count', async () => {
    await create({ backoffLimit: 0, ...policy('Ignore', [42]) }, { [SIMULATE.exitCode]: '42' })
    await fixture.until(
      async () => (await fixture.pods('job-name=once')).length >= 3,
      'tried again and again',
      1_200_000,
    )
    expect((await job())?.status?.failed).toBeUndefined()
    await fixture.api.delete(Job, { name: 'once' }, { propagation: 'Background' })
    await fixture.until(async () => (await fixture.pods('job-name=once')).length === 0, 'gone')
    await create({ backoffLimit: 0, ...policy('Ignore', [41]) }, { [SIMULATE.exitCode]: '42' })
    await ends('Failed')
    expect(await condition('Failed')).toContain('BackoffLimitExceeded')
  })

  test('a Job fails after its backoff limit, with exponential backoff', async () => {
    await create({ backoffLimit: 2 }, { [SIMULATE.exitCode]: '3', [SIMULATE.exitAfter]: '100ms' })
    await ends('Failed')
    expect(await condition('Failed')).toBe('True BackoffLimitExceeded: Job has reached the specified backoff limit')
    expect((await job())?.status).toMatchObject({ failed: 3 })
    const times = (await fixture.pods('job-name=once'))
      .map(({ metadata }) => Date.parse(metadata.creationTimestamp))
      .toSorted((a, b) => a - b)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(10_000)
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(20_000)
  })

  test('a Job fails at its deadline', async () => {
    await create({ activeDeadlineSeconds: 5 }, { [SIMULATE.exitAfter]: 'never' })
    await ends('Failed')
    expect(await condition('Failed')).toBe('True DeadlineExceeded: Job was active longer than specified deadline')
    await fixture.until(async () => (await fixture.pods('job-name=once')).length === 0, 'its pods are gone')
  })

  test('a suspended Job has no pods and continues after it is resumed', async () => {
    await create({ suspend: true })
    await fixture.settle()
    expect(await condition('Suspended')).toBe('True JobSuspended: Job suspended')
    expect(await fixture.pods('job-name=once')).toEqual([])
    expect((await job())?.status?.startTime).toBeUndefined()
    await fixture.api.patch(Job, { name: 'once' }, mergePatch({ spec: { suspend: false } }))
    await ends('Complete')
    expect(await condition('Suspended')).toBe('False JobResumed: Job resumed')
    expect((await job())?.status?.failed).toBeUndefined()
  })

  test('each index of an indexed Job succeeds once', async () => {
    await create({ completions: 3, parallelism: 2, completionMode: 'Indexed' })
    await ends('Complete')
    expect((await job())?.status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' })
    const pods = await fixture.pods('job-name=once')
    expect(pods.map(({ spec }) => spec?.hostname ?? '').toSorted()).toEqual(['once-0', 'once-1', 'once-2'])
    expect(pods[0]?.spec?.containers[0]?.env?.[0]?.name).toBe('JOB_COMPLETION_INDEX')
  })

  test('a finished Job is deleted with its pods after its TTL', async () => {
    await create({ ttlSecondsAfterFinished: 30 })
    await ends('Complete')
    await fixture.clock.advance(20_000)
    expect(await job()).toBeDefined()
    await fixture.until(async () => (await job()) === undefined, 'gone', 30_000)
    expect(await fixture.pods('job-name=once')).toEqual([])
  })

  test('the tracking finalizer does not block the deletion of a running Job', async () => {
    for (const propagation of ['Background', 'Foreground'] as const) {
      await create({}, { [SIMULATE.exitAfter]: 'never' })
      await fixture.until(async () => (await fixture.pods('job-name=once'))[0]?.status?.phase === 'Running', 'running')
      await fixture.api.delete(Job, { name: 'once' }, { propagation })
      await fixture.until(
        async () => (await job()) === undefined && (await fixture.pods('job-name=once')).length === 0,
        propagation,
      )
    }
    expect(await fixture.list(Pod)).toEqual([])
  })
})
