import { Client, type KubeObject, type Transport } from '@tenure/kube'
import type { StandardSettings } from '../configuration/index.ts'
import { ControllerRunner } from '../controller/index.ts'
import { DeclaredKinds } from '../controller/declared-kinds.ts'
import { installDefinitions } from '../definitions/index.ts'
import { fenced, LeaderElector } from '../election/index.ts'
import { EventRecorder } from '../events/index.ts'
import type { Informer, SharedInformers } from '../informer/index.ts'
import type { ConfiguredOperator, Operator, OperatorParts, OperatorQueue } from '../operator/index.ts'
import type { Component, ComponentDefinition, ManagerContext, OperatorContext, Stage } from './component.ts'
import type { RunningOperator, RunOperatorsOptions } from './options.ts'
import { StartedComponents } from './stages.ts'
import { loopbackWebhooks, settledWebhooks } from './webhooks.ts'
import { whenAborted } from './signals.ts'

/** Dependencies that the manager provides to its operators. */
export interface OperatorRunnerOptions {
  readonly context: ManagerContext
  readonly informers: SharedInformers
  readonly transport: Transport
  /** Identity of this process in Leases, unless an operator's settings name another. */
  readonly processIdentity: string
  readonly options: RunOperatorsOptions
}

/** Runs one operator of a manager, under its own identity: field manager, reporter of Events, Lease, logger. */
export class OperatorRunner implements RunningOperator {
  readonly operator: Operator
  readonly context: OperatorContext
  readonly parts: OperatorParts
  readonly #settings: StandardSettings
  readonly #options: RunOperatorsOptions
  readonly #informers: SharedInformers
  readonly #recorder: EventRecorder
  readonly #elector: LeaderElector | undefined
  readonly #standing = Promise.withResolvers<boolean>()
  /** A client whose writes pass only while this process leads. */
  readonly #leaderApi: Client
  #declared: ReadonlyMap<string, readonly Informer<KubeObject>[]> | undefined

  constructor(
    { operator, settings }: ConfiguredOperator,
    { context, informers, transport, processIdentity, options }: OperatorRunnerOptions,
  ) {
    const { clock, random, metrics } = context
    const standard: StandardSettings = settings
    const name = nameOf(operator)
    const log = context.log.child({ operator: operator.name })
    const client = { clock, random, fieldManager: name, defaultNamespace: context.namespace }
    const api = new Client({ ...client, transport })
    const process = standard.podName ?? processIdentity
    const lease = leaseOf(operator, settings, options, context.namespace)
    this.operator = operator
    this.#settings = standard
    this.#options = options
    this.#informers = informers
    this.#recorder = new EventRecorder({ api, clock, random, log, metrics, controller: name })
    const { whenLost: _, ...timing } = options.leaderElection || {}
    this.#elector =
      lease && new LeaderElector({ ...lease, ...timing, identity: process, api, clock, random, log, metrics })
    this.#leaderApi = this.#elector ? new Client({ ...client, transport: fenced(transport, this.#elector) }) : api
    for (const each of new Set([api, this.#leaderApi])) informers.observe(each)
    const isLeader = (): boolean => this.#elector?.isLeader() ?? true
    const identity = { name, process, lease }
    this.context = {
      ...context,
      api,
      log,
      settings,
      recorder: this.#recorder,
      identity,
      isLeader,
      onStep: options.onStep,
    }
    // The settings were read by this operator's own table.
    this.parts = operator.setup(this.context as OperatorContext<never>)
  }

  /** The informers of its controllers. They run on every replica, so that a new leader starts with full caches. */
  get caches(): readonly Informer<KubeObject>[] {
    return [...this.#informersByController().values()].flat()
  }

  get queues(): readonly OperatorQueue[] {
    const own = [...this.#informersByController()].map(([name, informers]) => ({ name, informers }))
    return [...own, ...(this.parts.queues?.() ?? [])]
  }

  components(stage: Stage, context: OperatorContext = this.context): readonly Component[] {
    return this.#definitions()
      .filter((definition) => definition.stage === stage)
      .map((definition) => definition.create(context))
  }

  /** The webhooks that are served on every replica. */
  webhooks(): readonly Component[] {
    const { webhooks = [] } = this.parts
    const { webhooks: where = 'settings' } = this.#options
    if (webhooks.length === 0 || where === 'none' || this.#settings.webhooks === false) return []
    if (where !== 'settings')
      return [loopbackWebhooks(webhooks, this.context, where === 'loopback' ? undefined : where)]
    const served = settledWebhooks(webhooks, this.context, this.#settings)
    return served ? [served] : []
  }

  /** Installs its CustomResourceDefinitions, on every replica. */
  definitions(): readonly Component[] {
    const { crds } = this.operator
    const install = this.#settings.installDefinitions ?? true
    if (crds.length === 0) return []
    return [installDefinitions(crds, { fieldManager: this.context.identity.name, install }).create(this.context)]
  }

  /** Resolves when everything that leads has started, with true, or another process is known to lead, with false. */
  get standing(): Promise<boolean> {
    return this.#standing.promise
  }

  /** Leads or campaigns until `stop` aborts; true if leadership was lost and that must end the manager. */
  async lead(stop: AbortSignal, grace: number): Promise<boolean> {
    const elector = this.#elector
    if (!elector) {
      await this.#runTerm(stop, stop, grace)
      return false
    }
    const { whenLost = 'campaign', isEnded } = this.#options.leaderElection || {}
    const onNewLeader = (identity: string): void => {
      if (identity !== elector.identity && !isEnded?.(identity)) this.#standing.resolve(false)
    }
    for (;;) {
      const end = await elector.run(stop, { onStarted: (term) => this.#runTerm(term, stop, grace), onNewLeader })
      if (end === 'stopped') return false
      if (whenLost === 'stop') return true
    }
  }

  async closeRecorder(grace: number): Promise<void> {
    await this.#recorder.close(grace)
  }

  #informersByController(): ReadonlyMap<string, readonly Informer<KubeObject>[]> {
    const { controllers = [] } = this.parts
    this.#declared ??= new Map(
      controllers.map((definition) => {
        const { sources } = new DeclaredKinds(definition, this.#informers)
        return [definition.name, sources.map(({ informer }) => informer)]
      }),
    )
    return this.#declared
  }

  #definitions(): readonly ComponentDefinition[] {
    return this.parts.components ?? []
  }

  /** One term: starts everything that leads, and stops it when the term ends; at once, unless `stop` ended it. */
  async #runTerm(term: AbortSignal, stop: AbortSignal, grace: number): Promise<void> {
    const { clock, log } = this.context
    const started = new StartedComponents(clock, log)
    const context = { ...this.context, api: this.#leaderApi }
    try {
      await started.start([...this.#controllers(), ...this.components('lead', context)], term)
      this.#standing.resolve(true)
      this.#options.onLeading?.(this.operator.name, true)
      await whenAborted(term)
      this.#options.onLeading?.(this.operator.name, false)
    } catch (error) {
      if (!term.aborted) throw error
    } finally {
      await started.stop(stop.aborted ? grace : 0)
    }
  }

  #controllers(): readonly Component[] {
    const { clock, identity, log, metrics, random } = this.context
    const { tracer, onStep } = this.#options
    return (this.parts.controllers ?? []).map((definition) => {
      const runner = new ControllerRunner(definition, {
        api: this.#leaderApi,
        informers: this.#informers,
        recorder: this.#recorder,
        fieldManager: identity.name,
        clock,
        log,
        metrics,
        random,
        tracer,
        onStep,
      })
      return {
        name: `controller ${definition.name}`,
        start: (signal) => runner.start(signal),
        stop: (grace) => runner.stop({ grace }),
      }
    })
  }
}

/** The operator's name in the cluster. */
export function nameOf({ identity, name }: Operator): string {
  return identity.name ?? name
}

function leaseOf(
  operator: Operator,
  settings: ConfiguredOperator['settings'],
  { leaderElection }: RunOperatorsOptions,
  home: string,
): OperatorContext['identity']['lease'] {
  const { enableLeaderElection = true, leaderElectionNamespace: namespace = home }: StandardSettings = settings
  if (leaderElection === false || !enableLeaderElection) return undefined
  const { leaderLease = `${nameOf(operator)}-leader` } = operator.identity
  // The settings are those of this operator's own table.
  const name = typeof leaderLease === 'string' ? leaderLease : leaderLease(settings as never)
  return { name, namespace }
}
