import type { Route } from './routes/route.ts'
import type { HttpServerOptions } from './server/http-server.ts'
import type { View } from './views/view.ts'

/** An HTTP server with the routes of one operator alone. */
export interface OwnServer extends Omit<HttpServerOptions, 'whenTaken' | 'onListening'> {
  readonly name: string
}

declare module '@tenure/runtime' {
  interface OperatorParts {
    /** Served by `httpServer`, together with those of all operators of the process. */
    readonly routes?: readonly Route[]
    /** Lists and a stream of them are served by `httpServer`, and the dashboard shows them. */
    readonly views?: readonly View[]
    /** Served by `ownServers`, for clients that expect the operator alone at an address. */
    readonly servers?: readonly OwnServer[]
  }
}
