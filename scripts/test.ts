// npm test: all tests that need only Node. Arguments are passed to vitest: npm test -- packages/kube
import { runSteps } from './run.ts'
import { staticSteps } from './steps.ts'

const args = process.argv.slice(2)
const unit = { name: 'unit', tool: 'vitest', args: ['run', '--project', 'unit', ...args] } as const
await runSteps(args.length > 0 ? [unit] : [...staticSteps, unit])
