import type { Route } from '@tenure/http'
import type { OperatorContext } from '@tenure/runtime'
import { aboutRoutes } from './about.ts'
import { LeadershipReader } from './leadership.ts'
import { eventsRoute } from './events.ts'
import { healthRoutes } from './health.ts'
import type { ApplicationRoutesOptions } from './options.ts'
import { resourceRoutes } from './resources.ts'
import { reviewRoutes } from './reviews.ts'
import { ApplicationStore } from './store.ts'
import { watchRoute } from './watch.ts'

export type { ApplicationRoutesOptions, Events, Reviews } from './options.ts'
export type { Leadership, LeaseView } from './leadership.ts'

/** All HTTP routes of the operator. */
export function applicationRoutes(context: OperatorContext, options: ApplicationRoutesOptions): readonly Route[] {
  const store = new ApplicationStore(context, options)
  const leadership = new LeadershipReader(context)
  const watch = watchRoute(context, store, options.namespace)
  return [
    ...aboutRoutes(context, store, options),
    ...healthRoutes(context, leadership, options),
    ...resourceRoutes(store, watch.newest),
    watch.route,
    eventsRoute(options.events),
    ...reviewRoutes(options.reviews),
  ]
}
