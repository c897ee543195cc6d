// npm run check: types, lint and format, in a few seconds.
import { runSteps } from './run.ts'
import { staticSteps } from './steps.ts'

await runSteps(staticSteps)
