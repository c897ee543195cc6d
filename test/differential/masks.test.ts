import { expect, test } from 'vitest'

import { inOrder } from './masks.ts'

const refused = (complaints: readonly string[]) => ({ message: `Pod "a" is invalid: [${complaints.join(', ')}]` })

test('field errors are sorted, whatever their fields are called', () => {
  const complaints = [
    'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "1500m": must be an integer',
    'spec.containers[0].resources.requests[odd]: Invalid value: "odd": must be a standard resource for containers',
    'metadata.annotations[a b, c]: Invalid value: "x": no, not at all',
  ]
  const sorted = refused(complaints.toSorted())
  expect(inOrder(refused(complaints))).toEqual(sorted)
  expect(inOrder(refused(complaints.toReversed()))).toEqual(sorted)
  expect(inOrder(refused(complaints.slice(1)))).not.toEqual(sorted)
})
