import type { PageRoute } from '../logic/route.ts'

/** Properties of every view. */
export interface ViewProps {
  readonly route: PageRoute
}
