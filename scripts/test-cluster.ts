// npm run test:cluster: the tests that need a real Kubernetes. It is built once, started, and stopped again.
import { runSteps } from './run.ts'

await runSteps([{ name: 'cluster', tool: 'vitest', args: ['run', '--project', 'cluster', ...process.argv.slice(2)] }])
