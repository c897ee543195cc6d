import { afterAll, beforeAll, describe } from 'vitest'
import { workerKubeconfigIfAny } from '../cluster/worker-kubeconfig.ts'
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

/** With a cluster (`npm run test:cluster`), tests run on it; without one, on the two floors that need only Node. */
function entrances(): readonly Entrance[] {
  const kubeconfig = workerKubeconfigIfAny()
  if (kubeconfig !== undefined) return [{ name: 'cluster', enter: () => HttpsFloor.cluster(kubeconfig) }]
  return [
    { name: 'in process', enter: () => InProcessFloor.enter() },
    { name: 'embedded', enter: () => HttpsFloor.embedded() },
  ]
}

/** Runs the tests on every available floor. The tests of a block share one floor. */
export function onEveryFloor(
  name: string,
  tests: (floor: () => Floor) => void,
  { only }: { readonly only?: readonly Floor['name'][] } = {},
): void {
  for (const entrance of entrances().filter((each) => only === undefined || only.includes(each.name))) {
    // Long, because a loaded machine must not fail the test.
    describe(`${name} (${entrance.name})`, { timeout: 180_000 }, () => {
      let floor: Floor | undefined
      beforeAll(async () => {
        floor = await entrance.enter()
      }, 120_000)
      afterAll(() => floor?.leave(), 120_000)
      tests(() => {
        if (!floor) throw new Error('The floor exists only while tests run')
        return floor
      })
    })
  }
}
