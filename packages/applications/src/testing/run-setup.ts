import type { TestControlPlane } from '@tenure/controlplane/testing'
import { VirtualClock } from '@tenure/kube/testing'
import {
  configure,
  defineOperator,
  type OperatorContext,
  type OperatorParts,
  runOperators,
  type RunOperatorsOptions,
} from '@tenure/runtime'
import { LEADER_LEASE, OPERATOR } from '../api/index.ts'
import { applicationsConfig, type ApplicationsSettings } from '../config.ts'
import { defaultValues } from '@tenure/runtime/configuration'

export interface RunSetupOptions extends Omit<RunOperatorsOptions, 'operators' | 'transport' | 'clock'> {
  readonly server: TestControlPlane
  /** Default: those of the table. */
  readonly settings?: Partial<ApplicationsSettings>
}

export interface RunningSetup<R> {
  readonly result: R
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Runs parts of the operator under its identity, without a leader election unless one is asked for. */
export function runSetup<R>(
  { server, settings, leaderElection = false, ...options }: RunSetupOptions,
  setup: (context: OperatorContext<ApplicationsSettings>) => OperatorParts & { readonly result: R },
): Promise<RunningSetup<R>> {
  const { clock, transport } = server
  const end = new AbortController()
  return new Promise((resolve, reject) => {
    const operator = defineOperator({
      name: 'applications',
      identity: { name: OPERATOR, leaderLease: LEADER_LEASE },
      config: applicationsConfig,
      setup: (context) => {
        const { result, ...parts } = setup(context)
        resolve({ result, ended, stop })
        return parts
      },
    })
    const values: ApplicationsSettings = { ...defaultValues(applicationsConfig), ...settings }
    const operators = [configure(operator, values)]
    const ended = runOperators(
      { freeze: true, webhooks: 'none', ...options, leaderElection, operators, transport, clock },
      end.signal,
    )
    ended.catch(reject)
    const stop = async (): Promise<void> => {
      end.abort()
      let isEnded = false
      const done = ended.finally(() => (isEnded = true))
      if (clock instanceof VirtualClock) await clock.advanceUntil(() => isEnded)
      await done
    }
  })
}
