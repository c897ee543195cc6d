import { afterAll, beforeAll, describe, inject } from 'vitest'
import type { Floor } from './floor.ts'
import { InProcessFloor } from './in-process.ts'
import { HttpsFloor } from './over-https.ts'

export type { Floor, Running } from './floor.ts'
export { InProcessFloor } from './in-process.ts'
export { HttpsFloor } from './over-https.ts'

interface Entrance {
  readonly name: Floor['name']
  enter(): Promise<Floor>
}

/** With a cluster (`npm run test:cluster`) that one; without, the two floors that need only Node. */
function entrances(): readonly Entrance[] {
  const kubeconfig = inject('kubeconfig') as string | undefined
  if (kubeconfig !== undefined) return [{ name: 'cluster', enter: () => HttpsFloor.cluster(kubeconfig) }]
  return [
    { name: 'in process', enter: () => InProcessFloor.enter() },
    { name: 'embedded', enter: () => HttpsFloor.embedded() },
  ]
}

/** Describes tests that run on every floor there is. One floor serves all tests of the block. */
export function onEveryFloor(
  name: string,
  tests: (floor: () => Floor) => void,
  { only }: { readonly only?: readonly Floor['name'][] } = {},
): void {
  for (const entrance of entrances().filter((each) => only === undefined || only.includes(each.name))) {
    // Long, because a loaded machine is no failure.
    describe(`${name} (${entrance.name})`, { timeout: 180_000 }, () => {
      let floor: Floor | undefined
      beforeAll(async () => {
        floor = await entrance.enter()
      }, 120_000)
      afterAll(() => floor?.leave(), 120_000)
      tests(() => {
        if (!floor) throw new Error('the floor is there only while tests run')
        return floor
      })
    })
  }
}
