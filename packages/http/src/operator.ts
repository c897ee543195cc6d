import type { ComponentDefinition, ControllerDefinition, ManagerContext, Webhook } from '@tenure/runtime'
import type { Route } from './routes/route.ts'

/** The routes of one concern, made for the manager whose caches and client they use. */
export type RouteGroup = (context: ManagerContext) => readonly Route[]

/** One operator as a value: what a manager runs and what an HTTP server serves. Several share one of each. */
export interface Operator {
  readonly name: string
  readonly controllers: readonly ControllerDefinition[]
  readonly components: readonly ComponentDefinition[]
  readonly webhooks: readonly Webhook[]
  readonly routes: readonly RouteGroup[]
}
