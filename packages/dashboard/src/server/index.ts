import type { SharedRoutes } from '@tenure/http'
import type { ManagerContext, RunningOperator } from '@tenure/runtime'
import { controllersView } from './controllers/view.ts'
import { objectRoute } from './object/route.ts'
import { assetRoutes } from './page.ts'

export { page } from './page.ts'

/** The dashboard's files, the object route and the controllers; the rest are routes and views of the operators. */
export function dashboard(operators: readonly RunningOperator[], context: ManagerContext): SharedRoutes {
  return { routes: [...assetRoutes(), objectRoute(context)], views: [controllersView(operators, context)] }
}
