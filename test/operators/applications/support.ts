import { Application, applicationsOperator } from '@tenure/applications'
import type { ApplicationSpec, ApplicationsOptions } from '@tenure/applications'
import type { Stored } from '@tenure/kube'
import { isNotFound } from '@tenure/kube'
import { manager } from '@tenure/runtime'
import type { Floor, Running } from '../../floors/index.ts'

interface Ref {
  readonly name: string
  readonly namespace: string
}

export const IMAGE = 'nginx:1.27'

/** Runs the operator on a floor for one namespace, and returns a function that stops it. */
export async function runApplications(
  floor: Floor,
  namespace: string,
  options: ApplicationsOptions = {},
): Promise<Running> {
  const operator = applicationsOperator({ namespace, ...options })
  const { controllers, components } = operator
  const { clock, random } = floor
  const transport = await floor.transport()
  return floor.run(
    manager({ name: operator.name, controllers, components, transport, namespace, clock, random, freeze: true }),
  )
}

/** Creates an Application as soon as the definition is served. */
export function create(floor: Floor, ref: Ref, spec: ApplicationSpec): Promise<Stored<Application>> {
  return floor.until('an Application can be created', () =>
    floor.api.create(Application, { metadata: ref, spec }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    }),
  )
}

export function whenRunning(floor: Floor, ref: Ref): Promise<Stored<Application>> {
  return floor.until(`${ref.name} is Running`, async () => {
    const application = await floor.api.get(Application, ref)
    const { phase, observedGeneration } = application.status ?? {}
    return phase === 'Running' && observedGeneration === application.metadata.generation && application
  })
}

/** Whether the object does not exist. */
export const isGone = (reading: Promise<unknown>): Promise<boolean> => reading.then(() => false, isNotFound)
