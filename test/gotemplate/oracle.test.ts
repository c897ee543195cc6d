import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'

import { answer } from '../../packages/gotemplate/src/cli/stdio.ts'
import { allCases } from './cases.ts'
import type { TemplateCase } from './cases.ts'
import { askOracle, buildOracle } from './oracle.ts'
import { randomCase } from './random-cases.ts'
import { readRecording } from './recording.ts'

/** Random templates per run; each is rendered by both engines. */
const RANDOM_CASES = 2000

let program = ''

beforeAll(async () => {
  program = await buildOracle()
}, 900_000)

describe("Helm's engine", () => {
  test.each(allCases())(
    'the recorded answers to the cases of $name are those that Helm gives now',
    async ({ name, cases }) => {
      expect(await askOracle(program, cases)).toEqual(readRecording().get(name))
    },
  )

  test('random templates render as Helm renders them', async () => {
    const seed = Number(process.env['GOTEMPLATE_SEED'] ?? Date.now() % 2 ** 31)
    console.log(`random templates: GOTEMPLATE_SEED=${seed}`)
    const cases: readonly TemplateCase[] = fc.sample(randomCase, { numRuns: RANDOM_CASES, seed })
    const answers = await askOracle(program, cases)
    const wrong = cases.flatMap((each, index) => {
      const ours = answer(JSON.stringify(each), { timeZone: 'UTC' })
      const helm = answers[index]
      return JSON.stringify(ours) === JSON.stringify(helm) ? [] : [{ ...each, helm, ours }]
    })
    expect(wrong.slice(0, 5), `GOTEMPLATE_SEED=${seed}`).toEqual([])
  })
})
