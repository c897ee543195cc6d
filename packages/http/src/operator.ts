import type { ComponentDefinition, ControllerDefinition, OperatorContext } from '@tenure/runtime'
import type { Webhook } from '@tenure/runtime/webhooks'
import type { Route } from './routes/route.ts'

declare module '@tenure/runtime' {
  interface OperatorParts {
    /** Served by `httpServer`, together with those of all operators of the process. */
    readonly routes?: readonly Route[]
  }
}

export type RouteGroup = (context: OperatorContext) => readonly Route[]

export interface Operator {
  readonly name: string
  readonly controllers: readonly ControllerDefinition[]
  readonly components: readonly ComponentDefinition[]
  readonly webhooks: readonly Webhook[]
  readonly routes: readonly RouteGroup[]
}
