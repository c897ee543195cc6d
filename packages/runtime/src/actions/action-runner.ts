import { type Clock, type Kind, type KubeApi, type KubeObject, keyOf, refTo } from '@tenure/kube'
import type { Informer } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import { AppliedRecords } from './applied-records.ts'
import type { DeclaredKind, Reconcile, StepHook } from './context.ts'
import { Executor } from './executor.ts'
import { NameConflicts } from './name-conflicts.ts'
import { StatusEchoes } from './status-echoes.ts'
import type { Action, Actions } from './types.ts'

export interface ActionRunnerOptions {
  /** Names the worker in step reports. */
  readonly name: string
  readonly api: KubeApi
  readonly clock: Clock
  readonly fieldManager: string
  /** The informers of all kinds that the actions apply. Their selections must include the objects that are applied. */
  readonly informers: readonly Informer<KubeObject>[]
  /** For tests: called at every step, and may throw or wait there. Default: none. */
  readonly onStep?: StepHook | undefined
}

export interface ActionRunContext {
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * Carries out actions for work that no Kubernetes object stands for, such as a row of a database. Objects need a
 * namespace of their own and get no owner; actions about the controller's object (status, finalizer, event) do not apply.
 */
export class ActionRunner {
  readonly #executor: Executor
  readonly #records: AppliedRecords
  readonly #informers: readonly Informer<KubeObject>[]
  #ends: readonly (() => void)[] = []

  constructor({ api, clock, fieldManager, informers, name, onStep }: ActionRunnerOptions) {
    this.#informers = informers
    this.#records = new AppliedRecords(fieldManager)
    const declared = new Map<string, DeclaredKind>(
      informers.map(({ cache, kind }) => [resourceId(kind), { kind, cache, owned: false }]),
    )
    this.#executor = new Executor({
      controller: name,
      api,
      clock,
      fieldManager,
      onStep,
      records: this.#records,
      nameConflicts: new NameConflicts(),
      statusEchoes: new StatusEchoes(),
      declared: (kind) => declared.get(resourceId(kind)),
      onMissedChange: () => undefined,
    })
  }

  /** Forgets deleted objects from now on. */
  start(): void {
    this.#ends = this.#informers.map((informer) =>
      informer.subscribe(({ object, type }) => {
        if (type === 'deleted') this.#records.forget(informer.kind, keyOf(refTo(object)))
      }),
    )
  }

  stop(): void {
    for (const end of this.#ends) end()
    this.#ends = []
  }

  /** The actions that would write something now. */
  pending(key: string, actions: Actions, context: ActionRunContext): readonly Action[] {
    return this.#executor.pending(actions, keyedReconcile(key, context))
  }

  /** Carries out the actions in order, and stops at the first that fails. Returns the time of the next run, if one asked. */
  async run(key: string, actions: Actions, context: ActionRunContext): Promise<number | undefined> {
    const reconcile = keyedReconcile(key, context)
    await this.#executor.execute(actions, reconcile)
    return reconcile.requeueAt
  }
}

/** Stands for the key where the executor asks for the controller's object; no kind has an empty name. */
const KEYED: Kind = {
  group: '',
  version: '',
  apiVersion: '',
  kind: '',
  plural: '',
  namespaced: false,
  representation: 'full',
}

function keyedReconcile(key: string, { log, signal }: ActionRunContext): Reconcile {
  const metadata = { name: key, uid: '', resourceVersion: '', creationTimestamp: '' }
  const object = { apiVersion: '', kind: '', metadata }
  return { key, kind: KEYED, object, isLive: false, signal, log, requeueAt: undefined, current: undefined }
}

function resourceId({ group, plural }: Kind): string {
  return `${plural}.${group}`
}
