import { expect, it } from 'vitest'
import { rollOut } from '../../docs/examples/control-plane.ts'

it('the example of the guide rolls out a deployment in process', async () => {
  expect(await rollOut(3)).toBe(3)
})
