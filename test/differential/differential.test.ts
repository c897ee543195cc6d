/** The same requests to the embedded control plane and to the real Kubernetes: the answers are compared. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { type ControlPlane, startControlPlane } from '@tenure/controlplane'
import { CORPUS } from './cases/index.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import { differences, unexpected } from './run-case.ts'
import { Session } from './session.ts'

/** Fewer, and somebody has lost a file of cases. */
const FEWEST_CASES = 850

let folder: string
let embedded: ControlPlane
let session: Session

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-differential-'))
  embedded = await startControlPlane()
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, embedded.kubeconfig ?? '')
  session = await Session.open([inject('kubeconfig'), kubeconfig])
})

afterAll(async () => {
  await session.close()
  await embedded.stop()
  await rm(folder, { recursive: true, force: true })
})

const cases = CORPUS.flatMap((group) => group.cases)

test('the corpus is whole', () => {
  const names = cases.map(({ name }) => name)
  expect(names.length).toBeGreaterThan(FEWEST_CASES)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(Object.keys(KNOWN_DIFFERENCES).filter((name) => !names.includes(name))).toEqual([])
})

describe.each(CORPUS)('$name', (group) => {
  test.each(group.cases)('$name', async (one) => {
    const [real = [], ours = []] = await session.run(one)
    expect(unexpected(real), 'the case is wrong about the real server').toEqual([])
    expect(complaint(one.name, differences(real, ours))).toBe('')
  })
})

/** What is wrong with the differences that were found: that there are any, or that there no longer are. */
function complaint(name: string, found: readonly string[]): string {
  if (!Object.hasOwn(KNOWN_DIFFERENCES, name)) return found.join('\n')
  return found.length > 0 ? '' : 'It no longer differs: take it off the list of known differences.'
}
