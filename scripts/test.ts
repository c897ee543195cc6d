// npm test: all tests that need only Node. Arguments are passed to vitest: npm test -- packages/kube
import { helpIfAsked } from './program-help.ts'
import { runSteps } from './run.ts'
import { staticSteps } from './steps.ts'

helpIfAsked({
  usage: 'npm test [-- files...]',
  summary: 'Check types, lint and format, and run all tests that need only Node.',
  arguments: [{ term: 'files', meaning: 'Run only the tests of these, and no checks: arguments of vitest.' }],
  examples: [{ term: 'npm test -- packages/kube', meaning: 'Run the tests of a package.' }],
})
const args = process.argv.slice(2)
const unit = { name: 'unit', tool: 'vitest', args: ['run', '--project', 'unit', ...args] } as const
await runSteps(args.length > 0 ? [unit] : [...staticSteps, unit])
