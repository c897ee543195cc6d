import { expect, test } from 'vitest'
import { rollOut } from '../../docs/examples/control-plane.ts'

test('the example of the guide rolls out a Deployment in process', async () => {
  expect(await rollOut(3)).toBe(3)
})
