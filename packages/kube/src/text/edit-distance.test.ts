import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closest, editDistance } from './edit-distance.ts'

const closestName = (name: string, names: readonly string[]) => closest(name, names, (each) => [each])[0]

describe('editDistance', () => {
  test.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['pods', 'pod', 1],
    ['service', 'servcie', 1],
    ['abc', 'cab', 2],
  ])('%j and %j are %i edits apart', (a, b, edits) => {
    expect(editDistance(a, b)).toBe(edits)
    expect(editDistance(b, a)).toBe(edits)
  })

  test('a limit changes only results that exceed it', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(5), (a, b, limit) => {
        const exact = editDistance(a, b)
        const limited = editDistance(a, b, limit)
        expect(limited === exact || (exact > limit && limited > limit)).toBe(true)
      }),
    )
  })
})

describe('closest', () => {
  test('close candidates are sorted by distance, then by position', () => {
    const kinds = [['Deployment'], ['DaemonSet'], ['Deployments', 'deploy'], ['deplyment']]
    expect(closest('deplyment', kinds, (names) => names)).toEqual([
      ['deplyment'],
      ['Deployment'],
      ['Deployments', 'deploy'],
    ])
  })

  test('one typing mistake is forgiven in short names', () => {
    expect(closestName('pot', ['pod', 'port'])).toBe('pod')
    expect(closestName('x', ['y', 'zz'])).toBe('y')
  })

  test('there is no suggestion if no candidate is close', () => {
    expect(closestName('--verbose', ['--port', '--host'])).toBeUndefined()
    expect(closestName('a', [])).toBeUndefined()
  })
})
