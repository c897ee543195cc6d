import type { Client, Clock, Random } from '@tenure/kube'
import type { Component, Logger, Metrics, SharedInformers } from '@tenure/runtime'
import type { ObjectEvents } from './common/core-events.ts'

/** Dependencies shared by the built-in controllers. */
export interface ControlPlaneContext {
  /** Clients with the field managers of the upstream programs: kube-controller-manager, kube-scheduler and kubelet. */
  readonly controllers: Client
  readonly scheduler: Client
  readonly kubelet: Client
  readonly informers: SharedInformers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Records Events of a component, such as `deployment-controller`. Components of a node set `host`. */
  readonly recorderFor: (component: string, host?: string) => ObjectEvents
}

export interface BuiltInController {
  readonly name: string
  create(context: ControlPlaneContext): Component
}
