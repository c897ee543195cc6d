import { Application, applications } from '@tenure/applications'
import type { ApplicationSpec, ApplicationsSettings } from '@tenure/applications'
import type { Stored } from '@tenure/kube'
import { isNotFound } from '@tenure/kube'
import { configure, runOperators } from '@tenure/runtime'
import type { RunOperatorsOptions } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
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
  settings: Partial<ApplicationsSettings> = {},
): Promise<Running> {
  const transport = await floor.transport()
  return runOn(floor, { transport, namespace, freeze: true, webhooks: 'none' }, { namespace, ...settings })
}

/** Runs the operator on a floor without a leader election. */
export function runOn(
  floor: Floor,
  options: Omit<RunOperatorsOptions, 'operators'>,
  settings: Partial<ApplicationsSettings>,
): Running {
  const { clock, random } = floor
  const values: ApplicationsSettings = { ...defaultValues(applications.config), ...settings }
  const operators = [configure(applications, values)]
  return floor.run({
    run: (signal) => runOperators({ leaderElection: false, clock, random, ...options, operators }, signal),
  })
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
