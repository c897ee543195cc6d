// npm run check: type check, lint and format check.
import { programArguments } from './program-help.ts'
import { runSteps } from './run.ts'
import { staticSteps } from './steps.ts'

programArguments({ usage: 'npm run check', summary: 'Check types, lint and format.' }, {})
await runSteps(staticSteps)
