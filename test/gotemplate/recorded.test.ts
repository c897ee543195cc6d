import { describe, expect, test } from 'vitest'

import { answer } from '../../packages/gotemplate/src/cli/stdio.ts'
import { FUNCTIONS } from '../../packages/gotemplate/src/functions/all.ts'
import { allCases } from './cases.ts'
import { readRecording } from './recording.ts'

const recording = readRecording()
const files = allCases()

describe('templates render as Helm renders them', () => {
  test.each(files)('the answers to the cases of $name are those of Helm', ({ name, cases }) => {
    const recorded = recording.get(name) ?? []
    expect(recorded.length, 'run test/gotemplate/record.ts after adding cases').toBe(cases.length)
    const wrong = cases.flatMap((each, index) => {
      const ours = answer(JSON.stringify(each), { timeZone: 'UTC' })
      const helm = recorded[index]
      return JSON.stringify(ours) === JSON.stringify(helm) ? [] : [{ template: each.template, helm, ours }]
    })
    expect(wrong).toEqual([])
  })

  test('the cases are more than a thousand and use every function', () => {
    const texts = files.flatMap(({ cases }) => cases.map(({ template }) => template))
    expect(texts.length).toBeGreaterThan(1000)
    const words = new Set(texts.flatMap((text) => text.match(/\w+/g) ?? []))
    expect([...FUNCTIONS.keys()].filter((name) => !words.has(name))).toEqual([])
  })
})
