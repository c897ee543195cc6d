// npm run check: type check, lint and format check.
import { runSteps } from './run.ts'
import { staticSteps } from './steps.ts'

await runSteps(staticSteps)
