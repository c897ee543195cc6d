import type { Route } from './routes/route.ts'

declare module '@tenure/runtime' {
  interface OperatorParts {
    /** Served by `httpServer`, together with those of all operators of the process. */
    readonly routes?: readonly Route[]
  }
}
