import type { RouteGroup } from '@tenure/http'
import { aboutRoutes } from './routes/about.ts'
import { Election } from './routes/election.ts'
import { eventsRoute } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import type { ApplicationRoutesOptions } from './routes/options.ts'
import { resourceRoutes } from './routes/resources.ts'
import { reviewRoutes } from './routes/reviews.ts'
import { ApplicationStore } from './routes/store.ts'
import { watchRoute } from './routes/watch.ts'

export type { ApplicationRoutesOptions, Events, Reviews } from './routes/options.ts'
export type { Leadership, LeaseView } from './routes/election.ts'

/** Everything that the applications operator serves. */
export function applicationRoutes(options: ApplicationRoutesOptions): RouteGroup {
  return (context) => {
    const store = new ApplicationStore(context, options)
    const election = new Election(context, options)
    const watch = watchRoute(context, store, options.namespace)
    return [
      ...aboutRoutes(context, store, options),
      ...healthRoutes(context, election, options),
      ...resourceRoutes(store, watch.newest),
      watch.route,
      eventsRoute(options.events),
      ...reviewRoutes(options.reviews),
    ]
  }
}
