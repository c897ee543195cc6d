import { type ComponentDefinition } from './component.ts'
import type { ControllerDefinition } from '../controller/index.ts'
import { defineOperator } from '../operator/index.ts'
import { Webhooks, type WebhooksOptions } from '../webhooks/index.ts'
import type { OperatorContext } from './component.ts'
import { runOperators } from './manager.ts'
import type { LeaderElectionOptions, RunOperatorsOptions } from './options.ts'

export interface LeaderElectionSettings extends LeaderElectionOptions {
  readonly name: string
  readonly namespace?: string | undefined
  readonly identity?: string | undefined
}

/** The options of a manager of one unnamed operator. */
export interface ManagerOptions extends Omit<
  RunOperatorsOptions,
  'operators' | 'leaderElection' | 'webhooks' | 'servers'
> {
  readonly controllers?: readonly ControllerDefinition[]
  readonly components?: readonly ComponentDefinition[]
  readonly name?: string
  readonly leaderElection?: string | LeaderElectionSettings
  readonly webhooks?: Omit<WebhooksOptions, 'cluster' | 'clock' | 'random' | 'log' | 'metrics'>
}

/** One operator in one process, by its parts. */
export class Manager {
  readonly #options: ManagerOptions
  #context: OperatorContext | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
  }

  get context(): OperatorContext | undefined {
    return this.#context
  }

  async run(signal?: AbortSignal): Promise<void> {
    const { controllers = [], components = [], name = 'tenure', leaderElection, webhooks, ...rest } = this.#options
    const {
      name: lease,
      namespace,
      identity,
      ...timing
    } = typeof leaderElection === 'string' ? { name: leaderElection } : (leaderElection ?? { name: '' })
    const operator = defineOperator({
      name,
      identity: { leaderLease: lease },
      setup: (context) => {
        this.#context = context
        return { controllers, components: [...components, ...(webhooks ? [served(webhooks)] : [])] }
      },
    })
    const settings = { leaderElectionNamespace: namespace, podName: identity }
    try {
      await runOperators(
        {
          ...rest,
          operators: [{ operator, settings }],
          leaderElection: leaderElection === undefined ? false : { whenLost: 'stop', ...timing },
        },
        signal,
      )
    } finally {
      this.#context = undefined
    }
  }
}

function served(options: NonNullable<ManagerOptions['webhooks']>): ComponentDefinition {
  return {
    stage: 'serve',
    create({ api, informers, clock, random, log, metrics }) {
      const webhooks = new Webhooks({ ...options, cluster: { api, informers }, clock, random, log, metrics })
      return { name: 'webhooks', start: (signal) => webhooks.start(signal), stop: (grace) => webhooks.close(grace) }
    },
  }
}

export function manager(options: ManagerOptions): Manager {
  return new Manager(options)
}
