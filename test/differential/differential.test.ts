/** Sends the same requests to the embedded control plane and to a real Kubernetes, and compares the responses. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type ControlPlane, startControlPlane } from '@tenure/controlplane'
import { workerKubeconfig } from '../cluster/worker-kubeconfig.ts'
import { CORPUS } from './cases/index.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import { differences, unexpected } from './run-case.ts'
import { Session } from './session.ts'

/** Guards against a lost file of cases. */
const MIN_CASES = 850

let folder: string
let embedded: ControlPlane
let session: Session

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-differential-'))
  embedded = await startControlPlane()
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, embedded.kubeconfig ?? '')
  session = await Session.open([workerKubeconfig(), kubeconfig])
})

afterAll(async () => {
  await session.close()
  await embedded.stop()
  await rm(folder, { recursive: true, force: true })
})

const cases = CORPUS.flatMap((group) => group.cases)

test('the corpus is complete', () => {
  const names = cases.map(({ name }) => name)
  expect(names.length).toBeGreaterThan(MIN_CASES)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(Object.keys(KNOWN_DIFFERENCES).filter((name) => !names.includes(name))).toEqual([])
})

describe.each(CORPUS)('$name', (group) => {
  test.each(group.cases)('$name', async (one) => {
    const [real = [], ours = []] = await session.run(one)
    expect(unexpected(real), 'the case is wrong about the real server').toEqual([])
    expect(describeFailure(one.name, differences(real, ours))).toBe('')
  })
})

/** Returns the error for a case: unexpected differences, or a known difference that is gone. */
function describeFailure(name: string, found: readonly string[]): string {
  if (!Object.hasOwn(KNOWN_DIFFERENCES, name)) return found.join('\n')
  return found.length > 0 ? '' : 'The responses no longer differ: remove the case from the known differences.'
}
