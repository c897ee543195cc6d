import type { Client, Clock, Random } from '@tenure/kube'
import type { Component, Logger, Metrics, SharedInformers } from '@tenure/runtime'
import type { Events } from './common/core-events.ts'

/** What the controllers inside the control plane share. */
export interface Surroundings {
  /** By whom they write: the names the real programs have in managedFields. */
  readonly controllers: Client
  readonly scheduler: Client
  readonly kubelet: Client
  readonly informers: SharedInformers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Events in the name of a component, such as `deployment-controller`; with a host for what runs on a node. */
  events(component: string, host?: string): Events
}

/** One of the controllers that a control plane runs. */
export interface BuiltInController {
  readonly name: string
  create(around: Surroundings): Component
}
